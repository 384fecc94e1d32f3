import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { defaultChainNames } from '../config/chains.ts'
import { createPool } from '../db/pool.ts'
import { type JoinProgress, readJoinProgress } from '../db/queries/agents/progress.ts'
import { holders } from './description.ts'
import type { RunningWorld } from './running-world.ts'

interface ReadyOptions {
  readonly running: RunningWorld
  readonly databaseUrl: string
  readonly api: string
  readonly graphql: string
  readonly signal: AbortSignal
  /** Called at every poll with the share of blocks indexed, 0 to 1, and the progress of the join. */
  readonly onProgress: (share: number, progress: JoinProgress) => void
}

/** Deadline in milliseconds: twice the three minutes that are promised for an idle machine. */
const deadlineMs = 360_000
const pollMs = 250
const requestMs = 2_000

/**
 * Resolves once the past is indexed on every chain, every holder is listed with its handle and its settlements counted,
 * the API answers with the first of them, and GraphQL is there. Throws with what is missing after `deadlineMs`.
 */
export async function untilReady(options: ReadyOptions): Promise<void> {
  const { running, databaseUrl, api, graphql, signal, onProgress } = options
  const heads = await Promise.all(
    defaultChainNames.map(async (name) => [name, Number(await running.chains[name].client.getBlockNumber())] as const),
  )
  const expected = holders(running.world)
  const total = heads.reduce((sum, [, head]) => sum + head, 0)
  const startedAt = new Date()
  const deadline = startedAt.getTime() + deadlineMs
  const pool = createPool({ databaseUrl, name: 'devnet', max: 1 })
  try {
    for (let missing = 'everything'; ; await delay(pollMs, undefined, { signal })) {
      if (Date.now() > deadline)
        throw new Error(`the local world is not ready after ${deadlineMs / 1000} s: ${missing}`)
      const progress = await readJoinProgress(pool, { fids: expected, countedUntil: startedAt })
      const done = heads.reduce((sum, [name, head]) => sum + Math.min(head, progress.indexedBlocks[name] ?? 0), 0)
      onProgress(done / total, progress)
      const behind = heads.filter(([name, head]) => (progress.indexedBlocks[name] ?? -1) < head).map(([name]) => name)
      const without = defaultChainNames.filter((name) => !progress.agentChains.includes(name))
      if (behind.length > 0) missing = `not indexed yet: ${behind.join(', ')}`
      else if (without.length > 0) missing = `no agent found yet on ${without.join(', ')}`
      else if (progress.unread > 0) missing = `${progress.unread} agents are not listed yet, or without their handle`
      else if (progress.uncounted > 0) missing = `settlements of ${progress.uncounted} addresses are not counted yet`
      else if (!(await answers(`${graphql}/readyz`))) missing = `${graphql}/readyz does not say ready`
      // Asked last: each answer counts against the client's rate limit.
      else if (!(await answers(`${api}/readyz`))) missing = `${api}/readyz does not say ready`
      else if (!(await answers(firstProfile(running, api)))) missing = `${firstProfile(running, api)} does not answer`
      else return
    }
  } finally {
    await pool.end()
  }
}

/**
 * Resolves once the first round of the files under `/exports/` is written, the snapshots last. Throws after `deadlineMs`.
 * The folder is read, as answers of the API count against the client's rate limit.
 */
export async function untilExported(folder: string, signal: AbortSignal): Promise<void> {
  for (const deadline = Date.now() + deadlineMs; !hasSnapshot(folder); await delay(pollMs, undefined, { signal })) {
    if (Date.now() > deadline) throw new Error(`no round of exports in ${folder} after ${deadlineMs / 1000} s`)
  }
}

function hasSnapshot(folder: string): boolean {
  try {
    const { files } = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'))
    return files.some(({ dataset }: { dataset: string }) => dataset === 'profiles')
  } catch {
    return false // not written yet
  }
}

/** Address of the first agent's profile. */
export function firstProfile({ world }: RunningWorld, api: string): string {
  return `${api}/api/agent/${world.people.agents[0]?.fid}`
}

async function answers(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(requestMs) })
    await response.arrayBuffer()
    return response.ok
  } catch {
    return false // not listening yet
  }
}
