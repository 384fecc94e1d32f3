-- Changes of the directory keep a digest of what readers see, for the transparency log.
alter table agent_change add column sha256 bytea;
