import { sources } from '../../../config/sources.ts'
import { type Hub, startHub } from '../../../devnet/hub/server.ts'
import { HubState } from '../../../devnet/hub/state.ts'
import { type AgentRow, storedAgents } from '../agent-model.ts'
import { createTestDatabase, type TestDatabase } from '../database.ts'
import { type Clock, createClock, type EnrichmentJob, startJob } from '../enrichment-job.ts'
import { type ChainRows, chainRows, wallet } from './rows.ts'

/** A database, a hub and the enrichment job between them, on one clock that only tests move. */
export interface Scene {
  readonly database: TestDatabase
  readonly clock: Clock
  readonly hub: Hub
  readonly rows: ChainRows
  readonly job: EnrichmentJob
  /** Registers accounts without anything. */
  register(...fids: number[]): void
  /** Makes the hub due for a poll, and runs the job until nothing is due. */
  settle(): Promise<void>
  /** The stored agent; undefined: not in the index. */
  agent(fid: number): Promise<AgentRow | undefined>
  stop(): Promise<void>
}

const pollSeconds = 10

/**
 * Starts at 2026-03-01T00:00:00Z. `lookups` gives the job Neynar's routes, `follows` has it read the agents' follows;
 * `rpc` and
 * `rpcEthereum` are nodes to check proofs with, `otherHub` the URL of a second hub, `hubGrpc` of a gRPC API.
 */
export async function startScene({
  lookups = false,
  follows = false,
  rpc = '',
  rpcEthereum = '',
  otherHub = '',
  hubGrpc = '',
} = {}): Promise<Scene> {
  const database = await createTestDatabase()
  const clock = createClock('2026-03-01T00:00:00Z')
  const hub = await startHub(new HubState(clock.now), { apiKey: 'key' })
  const env = {
    HUB_URL: [hub.url, otherHub].filter(Boolean).join(),
    HUB_GRPC: hubGrpc,
    HUB_POLL_SECONDS: String(pollSeconds),
    RPC_OPTIMISM: rpc,
    RPC_ETHEREUM: rpcEthereum,
  }
  const neynar = { NEYNAR_URL: hub.url, NEYNAR_API_KEY: 'key' }
  const perAgent = [
    ...(follows ? [sources.follows.name] : []),
    ...(rpc ? [sources.proofs.name] : []),
    ...(otherHub ? [sources.witnesses.name] : []),
  ]
  const job = await startJob({ database, clock, env: lookups ? { ...env, ...neynar } : env, perAgent })
  return {
    database,
    clock,
    hub,
    rows: chainRows(database.pool),
    job,
    register: (...fids) => {
      for (const fid of fids) hub.state.addAccount({ fid, custody: wallet(0xc000 + fid) })
    },
    async settle() {
      clock.pass(2 * pollSeconds * 1_000)
      await job.run()
    },
    agent: async (fid) => (await storedAgents(database.pool)).find((agent) => agent.fid === fid),
    async stop() {
      await job.close()
      await hub.stop()
      await database.drop()
    },
  }
}
