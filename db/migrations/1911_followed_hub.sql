-- Since when a hub of HUB_URL is the one that is followed; null: it is not, or the first one is and never was another.
alter table hub_standing add column followed_since timestamptz;
