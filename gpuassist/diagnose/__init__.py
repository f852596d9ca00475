"""From a Machine to findings: rules, the catalogue, the compatibility chain. Pure."""
