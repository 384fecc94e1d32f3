import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from '../support/source-files.ts'

interface LockedPackage {
  readonly license?: string
  readonly dev?: boolean
  readonly link?: boolean
}

/** Licences that may ship next to our own code: none reaches beyond its own files. */
const permissive = new Set([
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'ISC',
  'MIT',
  'MPL-2.0', // changes to its own files are published; it asks nothing of other files
  'OFL-1.1', // fonts; asks for nothing but not to be sold alone
  'PSF-2.0',
])
/** The indexing SDK: an image that holds it is conveyed under this licence, as the README says. */
const copyleft = { name: 'GPL-3.0-or-later', scope: '@subsquid/' }

const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
  packages: Record<string, LockedPackage>
}
const shipped = Object.entries(packages).filter(
  ([path, { dev, link }]) => path.startsWith('node_modules/') && !dev && !link,
)

test('every package that runs has a licence that is allowed', () => {
  const refused = shipped.filter(([path, { license = 'none' }]) => {
    const choices = license.replace(/[()]/g, '').split(' OR ')
    const isAllowed = choices.some((choice) => choice.split(' AND ').every((one) => permissive.has(one)))
    return !isAllowed && !(license === copyleft.name && nameOf(path).startsWith(copyleft.scope))
  })
  expect(refused.map(([path, { license }]) => `${nameOf(path)}: ${license}`)).toEqual([])
  expect(shipped.length).toBeGreaterThan(100)
})

test('README and image say what is in an image', () => {
  const license = /^LABEL org\.opencontainers\.image\.licenses="(.+)"$/m.exec(read('Dockerfile'))?.[1]
  expect(license?.split(' AND ')).toEqual(expect.arrayContaining(['MIT', copyleft.name]))
  expect(read('README.md')).toContain(copyleft.name)
})

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
}

function read(file: string): string {
  return readFileSync(join(root, file), 'utf8')
}
