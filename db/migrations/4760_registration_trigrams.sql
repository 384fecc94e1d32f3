-- outside a transaction
-- Parts of names and descriptions as lists of trigrams, which an index compares by itself.
drop index concurrently if exists searched_registration_words;
create index concurrently searched_registration_words on searched_registration
  using gin (terms, show_trgm(name), show_trgm(description));
