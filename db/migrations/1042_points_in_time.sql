-- Before the first event of a chain's registry nothing is known of its holders.
create index registration_transfer_time on registration_transfer (chain, block_timestamp);
