"""The rules as policies of the cluster: what each says in CEL, in the forms that clusters know."""
