import { chown, mkdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import { busiestChain } from '../../config/chains.ts'
import { makeSmallDisk, type SmallDisk } from '../../test/doubles/small-disk.ts'
import { until } from '../../test/support/until.ts'
import type { Heads } from './heads.ts'
import type { Installation } from './installation.ts'
import type { Line } from './lines.ts'
import { type Durations, withoutReadersWaiting } from './operations.ts'
import type { Running } from './processes.ts'
import { socialChain } from './shape.ts'
import { say } from './show.ts'

interface Scene {
  readonly installation: Installation
  readonly jobs: Running
  readonly heads: Heads
  /** TCP links to the node of the busiest chain, and to the hub. */
  readonly lines: { readonly node: Line; readonly hub: Line }
}

const awayMs = 3_000
/** Slow disk of the write-ahead log: its duration in milliseconds, and the delay of each commit in microseconds. */
const slowForMs = 10_000
const commitDelayUs = 100_000

/** Injects faults of processes, links and disks; returns, by fault, the seconds until all heads are indexed again. */
export async function disturb({ installation, jobs, heads, lines }: Scene): Promise<Durations> {
  const took: Durations = {}
  const recover = async (name: string, fault: () => Promise<unknown>) => {
    heads.during(name)
    await fault()
    took[name] = await heads.untilIndexed(name)
  }
  const silent = async (link: Line) => {
    await link.freeze()
    await delay(awayMs)
    await link.thaw()
  }
  const refused = async (link: Line, meanwhile?: () => Promise<void>) => {
    await link.cut()
    await meanwhile?.()
    await delay(awayMs)
    await link.mend()
  }
  const { link } = installation.line
  const disk = await makeSmallDisk()
  try {
    const space = await openSpace(installation, disk)
    await recover('processor killed', async () => jobs.signal(processorOf(busiestChain), 'SIGKILL'))
    await recover('processor paused', async () => {
      jobs.signal(processorOf(socialChain), 'SIGSTOP')
      await delay(awayMs)
      jobs.signal(processorOf(socialChain), 'SIGCONT')
    })
    await recover('database silent', () => silent(link))
    // Nobody writes while there are no connections: the partition moves at once.
    await recover('connections to the database cut', () => refused(link, space?.enter))
    if (space) {
      await recover('disk of a partition full', () =>
        fill(installation.pid, disk, jobs.logOf(processorOf(socialChain))),
      )
      await recover('connections to the database cut again', () => refused(link, space.leave))
    } else {
      say('no disk is filled: this process may not mount one')
    }
    await recover('disk of the log slow', () => slowDown(installation.pool))
    await recover('node silent', () => silent(lines.node))
    await recover('connections to the node cut', () => refused(lines.node))
    await recover('connections to the hub cut', () => refused(lines.hub))
    await recover('enrichment killed', async () => jobs.signal('enrichment', 'SIGKILL'))
  } finally {
    await disk.remove()
  }
  return took
}

const processorOf = (chain: string) => `processor-${chain}`

/** A tablespace for the settlements of the social network's chain. */
interface Space {
  enter(): Promise<void>
  leave(): Promise<void>
}

/** Undefined: the small disk is no file system of its own but a file size limit, which would hit the whole server. */
async function openSpace({ pool, pid }: Installation, { folder }: SmallDisk): Promise<Space | undefined> {
  if ((await stat(folder)).dev === (await stat(join(folder, '..'))).dev) return undefined
  const place = join(folder, 'space')
  await mkdir(place)
  const { uid, gid } = await stat(`/proc/${pid}`)
  await chown(place, uid, gid)
  const { rows } = await pool.query<{ name: string }>(
    'select tableoid::regclass::text as name from settlement where chain = $1 limit 1',
    [socialChain],
  )
  const move = (to: string) =>
    withoutReadersWaiting(pool, (client) => client.query(`alter table ${rows[0]?.name} set tablespace ${to}`))
  return {
    async enter() {
      await pool.query(`create tablespace rehearsal location '${place}'`)
      await move('rehearsal')
    },
    async leave() {
      await move('pg_default')
      await pool.query('checkpoint') // closes the remaining files of the tables that have moved
      await pool.query('drop tablespace rehearsal')
    },
  }
}

/** Delays each commit by a tenth of a second, as a slow disk of the write-ahead log would. */
async function slowDown(pool: pg.Pool): Promise<void> {
  const settings = { commit_siblings: 0, commit_delay: commitDelayUs }
  for (const [name, value] of Object.entries(settings)) await pool.query(`alter system set ${name} = ${value}`)
  await pool.query('select pg_reload_conf()')
  await delay(slowForMs)
  for (const name of Object.keys(settings)) await pool.query(`alter system reset ${name}`)
  await pool.query('select pg_reload_conf()')
}

/** Fills a disk until the process that writes `log` has failed for lack of space, then frees it. */
async function fill(server: number, disk: SmallDisk, log: string): Promise<void> {
  const complaints = async () => (await readFile(log, 'utf8')).split('No space left on device').length
  const before = await complaints()
  await disk.fill(server)
  await until('the processor finds no room', async () => (await complaints()) > before)
  await disk.free(server)
}
