"""Will a project's own files run on a machine: judged link by link, and the smallest change of them that makes it fit; pure."""
