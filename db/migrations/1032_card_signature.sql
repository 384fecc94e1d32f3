-- Of an A2A card: whether a key of its own origin signed it. Null: another kind of document, or not looked at yet.
alter table agent_spec add column card_signature text
  check (card_signature in ('valid', 'invalid', 'untrusted', 'none'));
