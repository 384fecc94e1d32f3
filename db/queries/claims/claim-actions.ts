import type { Queryable } from '../../pool.ts'
import { isUnlinked } from './claims.ts'

export type ActionName = 'withdraw' | 'unlist' | 'relist'

/** What makes an action single-use. */
interface ActionKey {
  readonly fid: number
  readonly action: ActionName
  readonly method: string
  readonly nonce: string
}

interface NewAction extends ActionKey {
  /** As received. */
  readonly proof: unknown
  readonly proofSha256: Buffer
  readonly manifestSha256: Buffer | null
  /** Address, app key or host. */
  readonly signer: string
  readonly byCustody: boolean
  /** Whether a host did it that nothing links to the account: it acts on its own claims alone. */
  readonly unlinked: boolean
  readonly signedAt: Date | null
  readonly acceptedAt: Date
  /** Response to the request that made it. */
  readonly answer: object
}

/** Stores an accepted action. Call under `lockClaims`, when it is known to be new. */
export async function insertAction(db: Queryable, action: NewAction): Promise<void> {
  await db.query({
    name: 'insert-claim-action',
    text: `
insert into claim_action (fid, action, method, nonce, proof, proof_sha256, manifest_sha256, signer, by_custody, signed_at,
                          accepted_at, answer, unlinked)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, nullif($13, false))`,
    values: [
      action.fid,
      action.action,
      action.method,
      action.nonce,
      JSON.stringify(action.proof),
      action.proofSha256,
      action.manifestSha256,
      action.signer,
      action.byCustody,
      action.signedAt,
      action.acceptedAt,
      JSON.stringify(action.answer),
      action.unlinked,
    ],
  })
}

export interface UsedAction {
  readonly nonce: string
  readonly proofSha256: Buffer
  readonly answer: object
}

/** The accepted action of a nonce. Undefined: the nonce is free. */
export async function findAction(db: Queryable, key: ActionKey): Promise<UsedAction | undefined> {
  const { rows } = await db.query<UsedAction>({
    name: 'find-claim-action',
    text: `select nonce, proof_sha256 as "proofSha256", answer from claim_action
            where fid = $1 and action = $2 and method = $3 and nonce = $4`,
    values: [key.fid, key.action, key.method, key.nonce],
  })
  return rows[0]
}

/** The accepted action of a manifest on a host. Undefined: it was not accepted before. */
export async function findManifestAction(
  db: Queryable,
  { fid, action, host, manifestSha256 }: Pick<ActionKey, 'fid' | 'action'> & { host: string; manifestSha256: Buffer },
): Promise<UsedAction | undefined> {
  const { rows } = await db.query<UsedAction>({
    name: 'find-manifest-action',
    text: `select nonce, proof_sha256 as "proofSha256", answer from claim_action
            where fid = $1 and action = $2 and signer = $3 and manifest_sha256 = $4`,
    values: [fid, action, host, manifestSha256],
  })
  return rows[0]
}

/**
 * Accepted actions of a FID from a time on: those that its custody address signed, or those that others did. `host`: those that
 * this host did, which nothing links to the account; they are among no others.
 */
export async function actionsSince(
  db: Queryable,
  { fid, byCustody, since, host }: { fid: number; byCustody: boolean; since: Date; host: string | undefined },
): Promise<number> {
  const { rows } = await db.query<{ actions: number }>({
    name: 'claim-actions-since',
    text: `
select count(*) as actions from claim_action
 where fid = $1 and by_custody = $2 and accepted_at >= $3 and case when unlinked then signer end is not distinct from $4`,
    values: [fid, byCustody, since, host],
  })
  return rows[0]?.actions ?? 0
}

/**
 * Ends the standing claims of a FID that are not newer than the word that ends them, oldest first, and returns them. Call
 * under `lockClaims`. `said`: when that word was signed, or came if that was earlier; a claim's time is told likewise.
 * `evidence`: canonical JSON with the reason; `host`: only claims that this host made.
 */
export async function endStandingClaims(
  db: Queryable,
  { fid, at, said, evidence, host }: { fid: number; at: Date; said: Date; evidence: string; host?: string | undefined },
): Promise<{ method: string; nonce: string }[]> {
  const { rows } = await db.query<{ method: string; nonce: string }>({
    name: 'end-standing-claims',
    text: `
with ended as (
  insert into claim_event (fid, method, nonce, kind, at, evidence)
  select fid, method, nonce, 'ended', $2, $3 from claim
   where fid = $1 and state <> 'ended' and least(signed_at, received_at) <= $4
     and ($5::text is null or method = 'well-known' and signer = $5)
   order by claimed_at
  returning seq, method, nonce)
select method, nonce from ended order by seq`,
    values: [fid, at, evidence, said, host],
  })
  return rows
}

/** Whether a host has claimed a FID, and that claim has not ended. */
export async function hasStandingClaim(db: Queryable, fid: number, host: string): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'standing-claim-of-host',
    text: `select from claim where fid = $1 and state <> 'ended' and method = 'well-known' and signer = $2 limit 1`,
    values: [fid, host],
  })
  return rowCount === 1
}

/**
 * Time at which a FID's claims were last ended: only proofs signed later can claim it again. Undefined: never. `signer`: address, app
 * key or host that claims now. What becomes of the claims of a host that nothing links to the account is nothing to others.
 */
export async function lastEnd(db: Queryable, fid: number, signer: string): Promise<Date | undefined> {
  const { rows } = await db.query<{ at: Date | null }>({
    name: 'last-claim-end',
    text: `
select greatest((select max(least(coalesce(signed_at, accepted_at), accepted_at))
                   from claim_action
                  where fid = $1 and action = 'withdraw' and (unlinked is null or signer = $2)),
                (select max(ended_at) from claim
                  where fid = $1 and end_reason not like 'withdrawn%' and (not (${isUnlinked}) or signer = $2))) as at`,
    values: [fid, signer],
  })
  return rows[0]?.at ?? undefined
}

/**
 * The newest unlisting or relisting of a FID that was signed later than a word of that kind; undefined: none was, so the
 * word decides.
 */
export async function laterListing(db: Queryable, fid: number, said: Date): Promise<ActionName | undefined> {
  const { rows } = await db.query<{ action: ActionName }>({
    name: 'later-listing',
    text: `
select action from claim_action
 where fid = $1 and action in ('unlist', 'relist') and least(signed_at, accepted_at) > $2
 order by least(signed_at, accepted_at) desc, accepted_at desc, nonce limit 1`,
    values: [fid, said],
  })
  return rows[0]?.action
}

/** Sets or, with null, clears the mark that a FID has taken itself out of the directory. */
export async function setUnlisted(db: Queryable, fid: number, at: Date | null): Promise<void> {
  if (at === null) {
    await db.query({ name: 'relist', text: 'delete from unlisted where fid = $1', values: [fid] })
    return
  }
  await db.query({
    name: 'unlist',
    text: 'insert into unlisted (fid, since) values ($1, $2) on conflict do nothing',
    values: [fid, at],
  })
}

/** Deletes the profile texts of those of these accounts that are unlisted. */
export async function forgetUnlistedProfiles(db: Queryable, fids: readonly number[]): Promise<void> {
  await db.query({
    name: 'forget-unlisted-profiles',
    text: `delete from social_profile p where p.fid = any ($1::bigint[])
              and exists (select from unlisted u where u.fid = p.fid)`,
    values: [fids],
  })
}
