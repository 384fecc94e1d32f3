-- What others need to check the link between a claim's host and its account; null: no link was needed, or it was accepted
-- before this was kept.
alter table claim add column host_link_evidence json;
