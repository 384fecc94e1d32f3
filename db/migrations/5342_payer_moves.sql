-- Pairs that moved are noted in the statements that move their sums.
drop trigger payer_moves_added on settlement_payer;
drop trigger payer_moves_changed on settlement_payer;
drop trigger payer_moves_removed on settlement_payer;
drop function note_payer_moves();
