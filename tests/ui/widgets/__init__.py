"""Tests of the kit of widgets."""
