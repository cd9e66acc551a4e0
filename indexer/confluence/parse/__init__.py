"""Bytes and bodies of every form into trees."""
