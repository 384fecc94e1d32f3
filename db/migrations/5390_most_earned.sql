-- outside a transaction
drop index concurrently if exists agent_figure_most_earned;
create index concurrently agent_figure_most_earned on agent_figure (greatest(earned_last_30d_amount, 0) desc, earned_ever_amount desc, fid desc)
 where chain = '' and not own and earned_ever_amount > 0;
