-- Changes of agents and of wallets that income is to follow, in the one queue.
drop trigger registration_wallet_added on registration_wallet;
drop trigger registration_wallet_removed on registration_wallet;
drop function note_wallets();

create trigger mark_added after insert on registration_wallet
  referencing new table as moved for each statement execute function mark_due(
    'wallets', 'select chain || '':'' || agent_id from moved');
create trigger mark_removed after delete on registration_wallet
  referencing old table as moved for each statement execute function mark_due(
    'wallets', 'select chain || '':'' || agent_id from moved');
create trigger mark_added after insert on agent_change
  referencing new table as moved for each statement execute function mark_due(
    'income', 'select fid from moved');
