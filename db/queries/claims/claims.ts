import { lockClasses } from '../../lock-keys.ts'
import type { Queryable } from '../../pool.ts'

/** What makes a claim single-use. */
interface ClaimKey {
  readonly fid: number
  readonly method: string
  readonly nonce: string
}

interface NewClaim extends ClaimKey {
  /** As received. */
  readonly proof: unknown
  readonly proofSha256: Buffer
  /** Address, app key or host. */
  readonly signer: string
  readonly signedAt: Date | null
  readonly receivedAt: Date
  readonly claimedAt: Date
  /** The verified set as the network told it, lowercase, sorted. */
  readonly verifiedAddresses: readonly string[]
  /** What linked the host to the fid, with its evidence; null for proofs without a host. */
  readonly hostLink: { readonly kind: string; readonly evidence: unknown } | null
  /** SHA-256 of the manifest as fetched; null for proofs without one. */
  readonly manifestSha256: Buffer | null
  /** Evidence of the claim event, as canonical JSON. */
  readonly evidence: string
}

/** The result of an accepted claim. */
export interface ClaimOutcome {
  /** Time of the earliest of the FID's claims that stood when this one was accepted. */
  readonly claimedAt: Date
  readonly verifiedAddresses: string[]
  readonly agentStatus: string
}

/** Serializes writers of a FID's claims and their events until the transaction ends. */
export async function lockClaims(db: Queryable, fid: number): Promise<void> {
  await db.query({
    name: 'lock-claims',
    text: 'select pg_advisory_xact_lock($1, hashint8($2::bigint))',
    values: [lockClasses.claims, fid],
  })
}

/** When a FID was claimed first, of the claims that stood when claim `c` was accepted, itself among them. */
const firstOf = `(select min(o.claimed_at) from claim o
                 where o.fid = c.fid and o.claimed_at <= c.claimed_at
                   and (o.ended_at is null or o.ended_at > c.claimed_at))`

/**
 * Stores a claim and its event, under `lockClaims`. Undefined: the nonce or the manifest is used already, and nothing
 * was written. Constraints decide, so there is no race to lose. The claim's time is later than that of whatever became
 * of the FID's claims before.
 */
export async function insertClaim(db: Queryable, claim: NewClaim): Promise<ClaimOutcome | undefined> {
  const { rows } = await db.query<ClaimOutcome>({
    name: 'insert-claim',
    text: `
with stored as (
  insert into claim (fid, method, nonce, proof, proof_sha256, signer, signed_at, received_at, claimed_at,
                     verified_addresses, host_link, manifest_sha256, host_link_evidence, agent_status)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $14,
          coalesce((select agent_status from agent where fid = $1), 'claimed-only'))
      on conflict do nothing
  returning *
),
event as (
  insert into claim_event (fid, method, nonce, kind, at, evidence)
  select fid, method, nonce, 'claimed', claimed_at, $13 from stored
  returning at
)
select least(e.at, (select min(o.claimed_at) from claim o where o.fid = $1 and o.state <> 'ended')) as "claimedAt",
       s.verified_addresses as "verifiedAddresses", s.agent_status as "agentStatus"
  from stored s, event e`,
    values: [
      claim.fid,
      claim.method,
      claim.nonce,
      JSON.stringify(claim.proof),
      claim.proofSha256,
      claim.signer,
      claim.signedAt,
      claim.receivedAt,
      claim.claimedAt,
      claim.verifiedAddresses,
      claim.hostLink?.kind ?? null,
      claim.manifestSha256,
      claim.evidence,
      claim.hostLink && JSON.stringify(claim.hostLink.evidence),
    ],
  })
  return rows[0]
}

/** Stores an agent's status with a claim whose answer tells it, and returns it; unchanged while there is no agent. */
export async function storeStatus(db: Queryable, { fid, method, nonce }: ClaimKey): Promise<string> {
  const { rows } = await db.query<{ agentStatus: string }>({
    name: 'store-claim-status',
    text: `
update claim set agent_status = coalesce((select a.agent_status from agent a where a.fid = $1), agent_status)
 where fid = $1 and method = $2 and nonce = $3
returning agent_status as "agentStatus"`,
    values: [fid, method, nonce],
  })
  return (rows[0] as { agentStatus: string }).agentStatus
}

/** The accepted claim of a nonce. Undefined: the nonce is free. */
export async function findClaim(
  db: Queryable,
  { fid, method, nonce }: ClaimKey,
): Promise<(ClaimOutcome & { readonly proofSha256: Buffer }) | undefined> {
  const { rows } = await db.query<ClaimOutcome & { proofSha256: Buffer }>({
    name: 'find-claim',
    text: `select proof_sha256 as "proofSha256", verified_addresses as "verifiedAddresses",
                  agent_status as "agentStatus", ${firstOf} as "claimedAt"
             from claim c
            where fid = $1 and method = $2 and nonce = $3`,
    values: [fid, method, nonce],
  })
  return rows[0]
}

/** The accepted claim of a manifest on a host. Undefined: the manifest was not accepted before. */
export async function findManifestClaim(
  db: Queryable,
  { fid, host, manifestSha256 }: { fid: number; host: string; manifestSha256: Buffer },
): Promise<(ClaimOutcome & { readonly nonce: string }) | undefined> {
  const { rows } = await db.query<ClaimOutcome & { nonce: string }>({
    name: 'find-manifest-claim',
    text: `select nonce, verified_addresses as "verifiedAddresses", agent_status as "agentStatus",
                  ${firstOf} as "claimedAt"
             from claim c
            where fid = $1 and signer = $2 and manifest_sha256 = $3`,
    values: [fid, host, manifestSha256],
  })
  return rows[0]
}

/** SQL: whether a row of claim is of a host that nothing links to the account. */
export const isUnlinked = `method = 'well-known' and host_link is null`

/**
 * Accepted claims of a fid from a time on: those of the account itself, or, of `host`, one that nothing links to the account,
 * its own.
 */
export async function claimsSince(
  db: Queryable,
  { fid, host, since }: { readonly fid: number; readonly host: string | undefined; readonly since: Date },
): Promise<number> {
  const { rows } = await db.query<{ claims: number }>({
    name: 'claims-since',
    text: `select count(*) as claims from claim
            where fid = $1 and claimed_at >= $2
              and case when ${isUnlinked} then signer = $3 else $3::text is null end`,
    values: [fid, since, host ?? null],
  })
  return rows[0]?.claims ?? 0
}

/** What is known of a fid before a claim; the time is null when it was never claimed. */
export async function claimState(
  db: Queryable,
  fid: number,
): Promise<{ readonly claimedAt: Date | null; readonly agentStatus: string }> {
  const { rows } = await db.query<{ claimedAt: Date | null; agentStatus: string }>({
    name: 'claim-state',
    text: `select (select min(claimed_at) from claim where fid = $1 and state <> 'ended') as "claimedAt",
                  coalesce((select agent_status from agent where fid = $1), 'claimed-only') as "agentStatus"`,
    values: [fid],
  })
  return rows[0] as { claimedAt: Date | null; agentStatus: string }
}
