-- A manifest is one claim, however often it is fetched and whatever nonce is sent beside it. Null: a claim by signature.
alter table claim add column manifest_sha256 bytea;
create unique index claim_manifest on claim (fid, signer, manifest_sha256) where manifest_sha256 is not null;
