-- outside a transaction
-- The list of agents by what they earned.
drop index concurrently if exists agent_figure_earned;
create index concurrently agent_figure_earned on agent_figure (earned_last_30d_amount desc, earned_ever_amount desc, fid desc)
 where chain = '' and not own and earned_ever_amount > 0;
