-- outside a transaction
drop index concurrently if exists figure_derivation_addresses;
create index concurrently figure_derivation_addresses on figure_derivation using gin (addresses);
