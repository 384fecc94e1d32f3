create or replace view directory.income as
select i.fid, i.hour, i.chain, '0x' || encode(i.recipient, 'hex') as recipient_address, i.kind, i.flag,
       i.flag = 'none' as filtered, i.x402, i.n as payments, i.amount * 0.000001 as amount_usdc,
       i.dust_n as dust_payments, i.first_at as first_paid_at, i.last_at as last_paid_at,
       i.passed_on, i.other_n as other_token_payments,
       (select public.wallet_chain_of(v.verification_type, v.verification_chain, i.chain)
          from public.verified_address v
         where v.fid = i.fid and v.address = i.recipient and v.ended_at is null) as wallet_chain
  from public.income_hour i
 where exists (select from public.agent a where a.fid = i.fid);

comment on view directory.income is e'@behavior -*\nWhat agents were paid by hour, address, kind and flag: every address that the agent verifies now, and wallets that its registrations named, for as long as they did. Final blocks only, some seconds behind chains.rolled_up_block.';
comment on column directory.income.fid is 'The agent’s id in the social network.';
comment on column directory.income.hour is 'Beginning of the hour.';
comment on column directory.income.chain is 'Lowercase name of the chain: ';
comment on column directory.income.recipient_address is 'Who was paid.';
comment on column directory.income.kind is 'eip3009_vrs or eip3009_bytes: a settlement, by the form of its signature; forwarded: passed on by a forwarder in the transaction that paid it; permit2_exact or permit2_upto: by one of x402’s proxies for Permit2; batch_claim: claimed from a channel of x402’s batch-settlement; escrow_charge or escrow_capture: from an escrow of commerce-payments, at once or of what was held, without the fee; escrow_refund: what went back of these, in dollars below zero; job_release: paid by a job of ERC-8183, without the fees.';
comment on column directory.income.flag is 'self: payer and recipient are one address; same_owner: the payer is or was an address of the same agent; ring: the money goes round over three addresses or more; none.';
comment on column directory.income.filtered is 'Whether it counts as filtered income: there is no flag.';
comment on column directory.income.x402 is 'Whether a known facilitator sent it, one of x402’s own contracts settled it, or the calldata of its transaction names who had a part in it.';
comment on column directory.income.payments is 'Payments in it, whatever the token; refunds are none.';
comment on column directory.income.amount_usdc is 'Dollars, with all six decimals; without payments in other tokens.';
comment on column directory.income.dust_payments is 'Those of them below a thousandth of a dollar.';
comment on column directory.income.first_paid_at is 'Time of the first.';
comment on column directory.income.last_paid_at is 'Time of the last.';
comment on column directory.income.passed_on is 'Whether the money is income of another agent too, whose address it went through in the same transaction. A sum over agents leaves these out.';
comment on column directory.income.other_token_payments is 'Those of the payments that are in tokens without a dollar figure.';
comment on column directory.income.wallet_chain is 'other: the recipient is a contract wallet, and was paid on another chain than its verification names; null: it was not.';
