"""What is written where a choice holds for less than every new shell: an environment, a project, a kernel, or for the desktop."""
