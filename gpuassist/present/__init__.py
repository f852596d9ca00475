"""Everything that is said of a machine, a plan, a holder, a sample: the sentences, and the JSON documents; one for both faces."""
