alter table agent_control add column noted_at timestamptz; -- when its last event was noted, behind which an hour has no other; null: it has none
