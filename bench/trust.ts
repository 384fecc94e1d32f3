import type pg from 'pg'
import { socialChain } from '../config/chains.ts'
import { proofNode } from '../config/hosts.ts'
import { sources } from '../config/sources.ts'
import { migrate } from '../db/migrate.ts'
import { createPool } from '../db/pool.ts'
import { storeMessages } from '../db/queries/sources/farcaster-messages.ts'
import { addSubjects } from '../db/queries/sources/source-state.ts'
import { HubState } from '../devnet/hub/state.ts'
import { appKeyOf, walletOf } from '../devnet/world/keys.ts'
import { judgeMessage } from '../enrichment/proofs/messages.ts'
import { socialProofs } from '../enrichment/proofs/source.ts'
import { runPass } from '../enrichment/schedule/scheduler.ts'
import { createHost } from '../hosts/host.ts'
import type { ProofWorld } from '../social/proof-world.ts'
import { startTemporaryServer } from './temporary-server.ts'

interface TrustBenchOptions {
  /** Agents of a first pass, each with one verified address. */
  readonly agents: number
}

/** Messages checked to measure the rate. */
const rated = 500
/** Rows stored in one statement. */
const pageRows = 500
const passWorkers = 4
const now = () => new Date()

interface Given {
  readonly fid: number
  readonly address: string
  readonly at: Date
  readonly message: unknown
}

/** Measures how many messages are checked in a second, and a first pass over all agents; prints a table. */
export async function benchTrust({ agents }: TrustBenchOptions): Promise<void> {
  process.stdout.write(`signing ${agents} messages\n`)
  const given = Array.from({ length: agents }, (_, n) => verificationOf(n + 1))
  const checked = await messagesASecond(given.slice(0, rated))
  const { postgres, remove } = await startTemporaryServer('trust', { durable: false, settings: {} })
  const pool = createPool({ databaseUrl: postgres.databaseUrl, name: 'bench', max: 12, statementTimeoutMs: 0 })
  try {
    await migrate(postgres.databaseUrl)
    const seconds = await firstPass(pool, given)
    const paced = agents / proofNode.requestsPerSecond
    const rows: [string, string][] = [
      ['messages checked a second, one core', checked.toFixed(0)],
      [`first pass over ${agents} agents, a node that answers at once`, `${seconds.toFixed(1)} s`],
      ['agents a second', (agents / seconds).toFixed(0)],
      [`the same at ${proofNode.requestsPerSecond} questions a second`, `${Math.max(seconds, paced).toFixed(0)} s`],
    ]
    for (const [what, figure] of rows) process.stdout.write(`${what.padEnd(60)} ${figure}\n`)
    process.stdout.write(`${JSON.stringify({ bench: 'trust', agents, messages_per_second: checked, seconds })}\n`)
  } finally {
    await pool.end()
    await remove()
  }
}

function verificationOf(fid: number): Given {
  const wallet = walletOf('bench', String(fid))
  const state = new HubState()
  state.addAccount({ fid, custody: wallet.address, appKey: appKeyOf('bench', String(fid)) })
  const message = state.addVerification(fid, wallet.address, { privateKey: wallet.privateKey })
  return { fid, address: wallet.address, at: now(), message }
}

async function messagesASecond(given: readonly Given[]): Promise<number> {
  const rounds = Math.ceil(2_000 / given.length)
  const began = performance.now()
  for (let round = 0; round < rounds; round++) {
    for (const one of given) {
      if ((await judgeMessage(one, now()))?.verdict !== 'signed') throw new Error('a true message was not taken')
    }
  }
  return (rounds * given.length * 1_000) / (performance.now() - began)
}

/** Seconds for the proofs of all agents, the messages already there. */
async function firstPass(pool: pg.Pool, given: readonly Given[]): Promise<number> {
  for (let start = 0; start < given.length; start += pageRows) {
    const judged = await Promise.all(given.slice(start, start + pageRows).map((one) => judgeMessage(one, now())))
    const page = judged.filter((one) => one !== undefined)
    await storeMessages(pool, page, now())
    const subjects = page.map(({ fid }) => `fid:${fid}`)
    await addSubjects(pool, sources.proofs.name, subjects, { priority: 0, dueAt: now() })
  }
  const world: ProofWorld = { registries, wallets }
  const host = createHost({ name: 'bench', requestsPerSecond: 1e6 })
  const source = socialProofs({ pool, world, host, now })
  const failed = (name: string, _: readonly string[], error: Error) => {
    throw new Error(name, { cause: error })
  }
  const began = performance.now()
  const work = async () => {
    while ((await runPass(source, { pool, now, random: Math.random, failed })).leased > 0);
  }
  await Promise.all(Array.from({ length: passWorkers }, work))
  return (performance.now() - began) / 1_000
}

/** A KeyRegistry that has every key. */
const registries: ProofWorld['registries'] = {
  canAnswer: true,
  chain: socialChain(),
  appKeyState: async () => 'active',
  isFinallyAdded: async () => true,
  isFinallyUnknown: async () => false,
  removedAt: async () => null,
  isActiveAppKey: async () => true,
  addedAppKeyAfter: async () => true,
  isCustody: async () => true,
  isAuthAddress: async () => false,
  removalOf: async () => undefined,
  addedLog: async () => null,
  custodyOf: async () => undefined,
  custodyChangeAfter: async () => undefined,
}

const wallets: ProofWorld['wallets'] = {
  canAnswer: () => false,
  signedByContract: async () => false,
  ask: () => Promise.reject(new Error('no contract wallet is asked here')),
}
