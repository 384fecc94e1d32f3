import { afterAll, beforeAll, beforeEach, expect } from 'vitest'
import { claimHistory } from '../../../db/queries/claims/provable-claims.ts'
import { minute } from '../../../ops/time.ts'
import type { SealedClaimEvent } from '../../../trust/claim-event.ts'
import { type EnrichmentJob, startJob } from '../enrichment-job.ts'
import { insert } from '../seed.ts'
import { type Claimant, type ClaimStage, eip191Claim, freshNonce, jfsClaim, post, startClaimStage } from './claims.ts'

/** Where hosts serve manifests of this service. */
export const manifestPath = '/.well-known/agent-directory.json'

interface StageJobOptions {
  /** Settings besides those of the stage, or in their place. */
  readonly env?: Record<string, string>
  readonly perAgent?: readonly string[]
}

/** An enrichment job of the stage, on its clock; it must be closed. */
export const startStageJob = (stage: ClaimStage, { env, perAgent }: StageJobOptions = {}): Promise<EnrichmentJob> =>
  startJob({
    database: stage.database,
    clock: {
      now: () => new Date(stage.clock.now),
      pass(ms) {
        stage.clock.now += ms
        return new Date(stage.clock.now)
      },
    },
    env: { HUB_URL: stage.hub.url, RPC_OPTIMISM: stage.chain.rpc, EGRESS_ALLOW: stage.host.name, ...env },
    perAgent,
  })

/** The parts of `claimChecks`: present while a test runs. */
interface Parts {
  stage: ClaimStage
  job: EnrichmentJob
  /** Of the test that runs. */
  claimant: Claimant
}

/** For a test file: a stage, an enrichment job that re-checks its claims, and a new claimant before each test. */
export function claimChecks() {
  const parts = {} as Parts
  beforeAll(async () => {
    parts.stage = await startClaimStage()
    parts.job = await startStageJob(parts.stage)
  })
  afterAll(async () => {
    await parts.job.close()
    await parts.stage.stop()
  })
  beforeEach(async () => {
    const { hub, host, database } = parts.stage
    // Accounts of earlier tests are not read again.
    hub.state.accounts.clear()
    await database.pool.query(`delete from source_state where subject like 'fid:%'`)
    parts.claimant = await parts.stage.claimant()
    hub.faults.clear()
    host.pages.clear()
    host.faults.clear()
    await passing(11 * minute)
  })

  async function passing(ms: number) {
    parts.stage.clock.now += ms
    await parts.job.run()
  }

  /** Passes of the claim checks alone after `ms`: nothing else changes. */
  async function looking(ms: number) {
    parts.stage.clock.now += ms
    while ((await parts.job.pass('claim_checks')).length > 0);
    await parts.job.join()
  }

  const history = async () => (await claimHistory(parts.stage.database.pool, parts.claimant.fid)) as SealedClaimEvent[]
  const kinds = async () => (await history()).map(({ kind }) => kind)
  const lastEvidence = async () => (await history()).at(-1)?.evidence

  async function claimed(body: unknown) {
    expect((await post(parts.stage.api, body)).status).toBe(200)
    await parts.job.run()
  }
  const byText = async () => claimed(await eip191Claim(parts.stage, parts.claimant))
  const byKey = async () => claimed(jfsClaim(parts.stage, parts.claimant))
  async function byManifest() {
    const { fid, address } = parts.claimant
    const { hub, host } = parts.stage
    const { name } = host
    hub.state.setProfile(fid, { url: `https://${name}/about` })
    host.pages.set(manifestPath, { body: { service: 'agent-directory', host: name, fid, addresses: [address] } })
    await claimed({ method: 'well-known', fid, host: name, nonce: freshNonce() })
  }

  /** Stores the account's transfer ('t') or recovery ('r') as the processor would, by default of now. */
  async function transferred(kind: 't' | 'r', block = 1_000, at = parts.stage.clock.now) {
    const { fid } = parts.claimant
    await insert(parts.stage.database.pool, 'fid_custody', {
      id: `optimism-${block}-${fid}`,
      chain: 'optimism',
      fid,
      kind,
      from: Buffer.alloc(20, 1),
      to: Buffer.alloc(20, 2),
      block_number: block,
      log_index: 3,
      block_timestamp: new Date(at),
      tx_hash: Buffer.alloc(32, 7),
    })
  }
  const finalized = (block: number) =>
    parts.stage.database.pool.query(
      `insert into chain_state (chain, chain_id, indexed_block, finalized_block, head_block, updated_at)
       values ('optimism', 10, $1, $1, $1, now()) on conflict (chain) do update set finalized_block = $1`,
      [block],
    )

  return Object.assign(parts, {
    passing,
    looking,
    history,
    kinds,
    lastEvidence,
    claimed,
    byText,
    byKey,
    byManifest,
    transferred,
    finalized,
  })
}
