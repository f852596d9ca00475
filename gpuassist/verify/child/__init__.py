"""What runs in the user's interpreter: it stands alone on torch and the standard library, without syntax newer than Python 3.8."""
