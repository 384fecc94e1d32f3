-- What an operator has to know about the directory's freshness: a position alone tells nobody how old it is.
alter table source_cursor
  add column reached_at timestamptz; -- of a stream: up to when its events are applied; of a sweep: when it was last through
