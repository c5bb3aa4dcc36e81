"""A ChatGPT export with a hidden node, an abandoned branch and a missing time (case G09)."""

from __future__ import annotations

NAMED_FRUIT = """[{"title":"t","create_time":null,"current_node":"n4","mapping":{
 "n0":{"parent":null,"children":["n1"],"message":null},
 "n1":{"parent":"n0","children":["n2"],"message":{"author":{"role":"user"},"create_time":1764460800.25,
  "content":{"content_type":"text","parts":["Name a red fruit"]}}},
 "n2":{"parent":"n1","children":["n3x","n3"],"message":{"author":{"role":"system"},"create_time":null,
  "metadata":{"is_visually_hidden_from_conversation":true},"content":{"content_type":"text","parts":[""]}}},
 "n3x":{"parent":"n2","children":[],"message":{"author":{"role":"assistant"},"create_time":null,
  "content":{"content_type":"text","parts":["Apple"]}}},
 "n3":{"parent":"n2","children":["n4"],"message":{"author":{"role":"assistant"},"create_time":null,
  "content":{"content_type":"text","parts":["Cherry"]}}},
 "n4":{"parent":"n3","children":[],"message":{"author":{"role":"user"},"create_time":1764460810,
  "content":{"content_type":"text","parts":["Why?"]}}}}}]"""
