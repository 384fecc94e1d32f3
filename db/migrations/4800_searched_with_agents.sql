-- The derivation of an agent writes what it is found by and numbers its activity, in the same transaction.
drop trigger agent_moved on agent;
drop trigger agent_removed on agent;
drop trigger searched_agent_added on agent;
drop trigger searched_agent_changed on agent;
drop trigger searched_agent_removed on agent;
drop trigger searched_agent_emptied on agent;
drop trigger searched_words_added on agent_words;
drop trigger searched_words_changed on agent_words;
drop function note_activity();
drop function note_searched_agent();
drop function forget_searched_agents();
drop function forget_all_searched_agents();
drop function note_searched_words();
drop function filtered_combination(agent);
drop function searched_document(agent_words);
