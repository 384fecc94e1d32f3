import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { chainNames } from '../../config/chains.ts'
import type { Reader } from '../../config/settings.row.ts'
import { settings } from '../../config/settings.ts'
import { root } from '../support/source-files.ts'

interface Container {
  readonly name: string
  readonly command?: readonly string[]
  readonly envFrom?: readonly { readonly secretRef?: { readonly name: string } }[]
}
interface KubernetesObject {
  readonly kind: string
  readonly metadata?: { readonly name: string }
  readonly stringData?: Record<string, string>
  readonly spec?: {
    readonly template?: { readonly spec: { readonly containers: readonly Container[] } }
    readonly ingress?: readonly { readonly from?: readonly unknown[] }[]
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

test('each pod has the secrets that its process reads, and no other', () => {
  const secrets = new Map(
    objects.map(({ kind, metadata, stringData = {} }) => [
      metadata?.name,
      kind === 'Secret' ? Object.keys(stringData) : [],
    ]),
  )
  const isKey = (name: string) => [...secrets.values()].flat().includes(name)
  const keys = Object.values(settings).flatMap((group) => Object.entries(group).filter(([name]) => isKey(name)))
  const room = /dist\/(?:\w+\/)*(\w+)\/main\.js/
  const processes = objects
    .flatMap(({ spec }) => spec?.template?.spec.containers ?? [])
    .flatMap((one) => [[one, room.exec(one.command?.join(' ') ?? '')?.[1]] as const])
    .filter(([, main]) => main !== undefined)
  expect(processes.length).toBeGreaterThan(chainNames.length)
  for (const [{ name, envFrom = [] }, main] of processes) {
    const reader = (main === 'db' ? 'migrate' : main === 'processors' ? 'processor' : main) as Reader
    const given = envFrom.flatMap(({ secretRef }) => secrets.get(secretRef?.name) ?? [])
    const read = keys.flatMap(([key, { readers }]) => (readers.includes(reader) ? [key] : []))
    expect(given.toSorted(), name).toEqual(read.toSorted())
  }
})
