import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { chainNames } from '../../config/chains.ts'
import type { Reader } from '../../config/settings.row.ts'
import { settings } from '../../config/settings.ts'
import { specRequests } from '../../enrichment/specs/spec-requests.ts'
import { root } from '../support/source-files.ts'

interface Container {
  readonly name: string
  readonly command?: readonly string[]
  readonly envFrom?: readonly { readonly secretRef?: { readonly name: string; readonly optional?: boolean } }[]
}
interface KubernetesObject {
  readonly kind: string
  readonly metadata?: { readonly name: string }
  readonly stringData?: Record<string, string>
  readonly spec?: {
    readonly template?: { readonly spec: { readonly containers: readonly Container[] } }
    readonly ingress?: readonly { readonly from?: readonly unknown[] }[]
    readonly egress?: readonly { readonly ports?: readonly { readonly port: number }[] }[]
  }
}

const folder = join(root, 'deploy/kubernetes')
const objects = readdirSync(folder, { recursive: true })
  .map(String)
  .filter((path) => path.endsWith('.yaml'))
  .flatMap((path) => parseAllDocuments(readFileSync(join(folder, path), 'utf8')))
  .map((one) => one.toJS() as KubernetesObject)

test('whom a policy lets in, it names', () => {
  const policies = objects.filter(({ kind }) => kind === 'NetworkPolicy')
  expect(policies.length).toBeGreaterThan(5)
  const open = policies.filter(({ spec }) => spec?.ingress?.some(({ from = [] }) => from.length === 0))
  expect(open.map(({ metadata }) => metadata?.name)).toEqual([])
})

test('whoever asks strangers may reach every port that strangers are asked at', () => {
  const world = objects.filter(({ kind, metadata }) => kind === 'NetworkPolicy' && metadata?.name === 'world')
  expect(world.length).toBeGreaterThan(0)
  for (const { spec } of world) {
    const open = spec?.egress?.flatMap(({ ports = [] }) => ports.map(({ port }) => port))
    expect(open).toEqual(expect.arrayContaining([443, ...specRequests.ports]))
  }
})

/** Containers of our processes, each with who it is among the readers of settings. */
const processes = objects
  .flatMap(({ spec }) => spec?.template?.spec.containers ?? [])
  .flatMap(({ name, command, envFrom = [] }) => {
    const main = /dist\/(?:\w+\/)*(\w+)\/main\.js/.exec(command?.join(' ') ?? '')?.[1]
    const reader = (main === 'db' ? 'migrate' : main === 'processors' ? 'processor' : main) as Reader | undefined
    return reader ? [{ name, reader, secrets: envFrom.flatMap(({ secretRef }) => secretRef ?? []) }] : []
  })
const allSettings = Object.values(settings).flatMap((group) => Object.entries(group))

test('each pod has the secrets that its process reads, and no other', () => {
  const secrets = new Map(
    objects.map(({ kind, metadata, stringData = {} }) => [
      metadata?.name,
      kind === 'Secret' ? Object.keys(stringData) : [],
    ]),
  )
  const isKey = (name: string) => [...secrets.values()].flat().includes(name)
  const keys = allSettings.filter(([name]) => isKey(name))
  expect(processes.length).toBeGreaterThan(chainNames.length)
  for (const { name, reader, secrets: refs } of processes) {
    const given = refs.flatMap((one) => secrets.get(one.name) ?? [])
    const read = keys.flatMap(([key, { readers }]) => (readers.includes(reader) ? [key] : []))
    expect(given.toSorted(), name).toEqual(read.toSorted())
  }
})

test('a process that reads addresses of nodes does not start without their secret, and no other key stops it', () => {
  const isOfNodes = (name: string) => /^(RPC|GATEWAY)_/.test(name) || name === 'PORTAL_API_KEY'
  const isOther = (name: string) => /_(KEY|TOKEN|SECRET)$/.test(name) && !isOfNodes(name)
  const reads = (is: (name: string) => boolean, reader: Reader) =>
    allSettings.some(([name, { readers }]) => is(name) && readers.includes(reader))
  for (const { name, reader, secrets } of processes)
    expect(secrets, name).toEqual([
      ...(reads(isOfNodes, reader) ? [{ name: 'directory-nodes' }] : []),
      ...(reads(isOther, reader) ? [{ name: 'directory-secrets', optional: true }] : []),
    ])
  expect(reads(isOfNodes, 'processor') && reads(isOther, 'api')).toBe(true)
})
