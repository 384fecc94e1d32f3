import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'

const version = '1.7.1'
const installMs = 300_000

/** The parts of agent0-sdk that read. */
export interface Agent0 {
  readonly SDK: new (
    config: object,
  ) => {
    getAgent(id: string): Promise<Summary | null>
    searchAgents(filters?: object, options?: object): Promise<Summary[]>
    searchFeedback(filters: object, options?: object): Promise<{ readonly id: unknown; readonly value?: number }[]>
    getReputationSummary(id: string, tag1?: string, tag2?: string): Promise<{ count: number; averageValue: number }>
  }
}

interface Summary {
  readonly chainId: number
  readonly agentId: string
  readonly name: string
  readonly feedbackCount?: number
  readonly averageValue?: number
}

/**
 * agent0-sdk as its makers publish it, in a folder of its own. What it would need to write files to IPFS is left out: it
 * loads that only then, and its native parts take minutes to build. Throws when the registry of packages is out of reach.
 */
export async function installAgent0(): Promise<{ agent0: Agent0; remove: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'agent0-sdk-'))
  const remove = () => rm(folder, { recursive: true, force: true })
  await mkdir(join(folder, 'absent'))
  await writeFile(join(folder, 'absent/package.json'), JSON.stringify({ name: 'absent', version: '1.0.0' }))
  const unused = ['helia', '@helia/unixfs', 'kubo-rpc-client'].map((name) => [name, 'file:./absent'])
  const project = {
    private: true,
    type: 'module',
    dependencies: { 'agent0-sdk': version },
    overrides: Object.fromEntries(unused),
  }
  await writeFile(join(folder, 'package.json'), JSON.stringify(project))
  const flags = ['--no-audit', '--no-fund', '--ignore-scripts', '--omit=optional']
  try {
    await promisify(execFile)('npm', ['install', ...flags], { cwd: folder, timeout: installMs })
  } catch (cause) {
    await remove()
    throw new Error(`agent0-sdk ${version} could not be installed: is the registry of packages in reach?`, { cause })
  }
  const main = pathToFileURL(join(folder, 'node_modules/agent0-sdk/dist/index.js'))
  return { agent0: (await import(main.href)) as Agent0, remove }
}
