-- A host that answers "unchanged" would keep the prices that were read of its document before, some of them in dollars that
-- it never named.
update agent_spec set etag = null, last_modified = null
 where kind in ('openapi', 'x402') and (etag is not null or last_modified is not null);
