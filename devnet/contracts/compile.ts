import { createHash, randomBytes } from 'node:crypto'
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { Abi, Hex } from 'viem'

export interface Contract {
  readonly abi: Abi
  /** Code that runs the constructor, without its arguments. */
  readonly creation: Hex
  /** Deployed code, with zero in place of immutables. */
  readonly runtime: Hex
}

const folder = new URL('./', import.meta.url)
const cacheFile = new URL('../../.data/contracts.json', import.meta.url)
const require = createRequire(import.meta.url)

const settings = {
  evmVersion: 'prague',
  optimizer: { enabled: true, runs: 200 },
  viaIR: false,
  metadata: { bytecodeHash: 'none', appendCBOR: false },
  outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object', 'evm.deployedBytecode.object'] } },
}

/**
 * Every contract of this folder by its name. The compiler's output is kept under `.data/` as long as sources, settings
 * and versions stay the same. Throws the compiler's own message when a source does not compile.
 */
export async function compileContracts(): Promise<Record<string, Contract>> {
  const sources = await readSources()
  const versions = ['solc', '@openzeppelin/contracts'].map((name) => require(`${name}/package.json`).version)
  const key = createHash('sha256').update(JSON.stringify({ sources, settings, versions })).digest('hex')
  const kept = await readKept(key)
  if (kept) return kept
  const contracts = compile(sources)
  await keep(key, contracts)
  return contracts
}

async function readSources() {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.sol')).sort()
  const sources: Record<string, { content: string }> = {}
  for (const name of names) sources[name] = { content: await readFile(new URL(name, folder), 'utf8') }
  return sources
}

interface CompilerOutput {
  errors?: { severity: string; formattedMessage: string }[]
  contracts: Record<
    string,
    Record<string, { abi: Abi; evm: { bytecode: { object: string }; deployedBytecode: { object: string } } }>
  >
}

function compile(sources: Record<string, { content: string }>): Record<string, Contract> {
  // Loading the compiler costs a second, so it is loaded only when something has to be compiled.
  const solc = require('solc')
  const { readFileSync } = require('node:fs')
  const input = { language: 'Solidity', sources, settings }
  const output: CompilerOutput = JSON.parse(
    solc.compile(JSON.stringify(input), {
      import: (path: string) => ({ contents: readFileSync(require.resolve(path), 'utf8') }),
    }),
  )
  const errors = output.errors?.filter((error) => error.severity === 'error') ?? []
  if (errors.length > 0) throw new Error(errors.map((error) => error.formattedMessage).join('\n'))
  const own = Object.keys(sources).flatMap((name) => Object.entries(output.contracts[name] ?? {}))
  return Object.fromEntries(
    own.map(([name, { abi, evm }]) => [
      name,
      { abi, creation: `0x${evm.bytecode.object}`, runtime: `0x${evm.deployedBytecode.object}` },
    ]),
  )
}

async function readKept(key: string): Promise<Record<string, Contract> | undefined> {
  try {
    const kept = JSON.parse(await readFile(cacheFile, 'utf8'))
    return kept.key === key ? kept.contracts : undefined
  } catch {
    return undefined // absent, or half-written by another version: compile again
  }
}

/** Writes a temporary file and renames it, because several processes may compile at once. */
async function keep(key: string, contracts: Record<string, Contract>) {
  await mkdir(new URL('./', cacheFile), { recursive: true })
  const fresh = new URL(`./contracts.${randomBytes(4).toString('hex')}.json`, cacheFile)
  await writeFile(fresh, JSON.stringify({ key, contracts }))
  await rename(fresh, cacheFile)
}
