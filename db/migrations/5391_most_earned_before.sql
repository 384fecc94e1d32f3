-- outside a transaction
-- In its place is agent_figure_most_earned.
drop index concurrently if exists agent_figure_earned;
