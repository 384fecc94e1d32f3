import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from '../support/source-files.ts'

const [, base = ''] = /^FROM (\S+) AS base$/m.exec(readFileSync(join(root, 'Dockerfile'), 'utf8')) ?? []
const env = { ...process.env, BUILDAH_ISOLATION: 'chroot', STORAGE_DRIVER: 'vfs' }
const buildah = (...args: string[]) => spawnSync('buildah', args, { cwd: root, env, encoding: 'utf8' })
/** What npm says when nobody answers for the registry. */
const unreachable = /ENOTFOUND|ECONNREFUSED|EAI_AGAIN|ETIMEDOUT|ENETUNREACH/

/** Nothing is fetched from a registry of images: a machine that may do so does it before. */
function whyNot(): string | undefined {
  const { error, status } = buildah('inspect', '--type', 'image', base)
  if (error) return 'there is no buildah'
  return status === 0 ? undefined : `buildah does not have ${base}`
}

test('the image is built by buildah, where it and the image it begins with are there', () => {
  expect(base).toMatch(/^node:/)
  const reason = whyNot()
  if (reason !== undefined) return void console.warn(`the image was not built: ${reason}`)
  const name = 'agent-directory-built-by-a-test'
  const { status, stdout, stderr } = buildah('bud', '--pull-never', '--format', 'docker', '--tag', name, '.')
  if (status !== 0 && unreachable.test(stderr)) {
    return void console.warn('the image was not built: there is no registry of packages')
  }
  expect(status, stdout + stderr).toBe(0)
  expect(buildah('rmi', name).status).toBe(0)
})
