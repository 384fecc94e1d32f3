-- Withdrawals by hosts that nothing links to the account, which ended their own claims alone.
alter table claim_action add column unlinked boolean;
