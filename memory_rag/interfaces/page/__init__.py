"""A page on which a person sees what is remembered, and decides what stays."""
