import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { root } from '../support/source-files.ts'

interface Rule {
  /** The name of its group. */
  readonly group: string
  readonly alert?: string
  readonly record?: string
  readonly expr: string
  readonly labels?: { readonly severity: string }
  readonly annotations?: { readonly runbook_url: string }
}

/** The files of a folder of deploy/monitoring. */
export function monitoringFiles(folder: 'rules' | 'tests'): string[] {
  const path = join(root, 'deploy/monitoring', folder)
  return readdirSync(path).map((file) => join(path, file))
}

/** The rules of all files and groups. */
export function readRules(): Rule[] {
  const groups = monitoringFiles('rules').flatMap((file) => parse(readFileSync(file, 'utf8')).groups)
  return (groups as { name: string; rules: Omit<Rule, 'group'>[] }[]).flatMap(({ name, rules }) =>
    rules.map((rule) => ({ ...rule, group: name })),
  )
}
