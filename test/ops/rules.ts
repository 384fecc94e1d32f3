import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { root } from '../support/source-files.ts'

export const rulesFile = join(root, 'deploy/monitoring/rules/directory.yaml')

interface Rule {
  readonly alert?: string
  readonly record?: string
  readonly expr: string
  readonly labels?: { readonly severity: string }
  readonly annotations?: { readonly runbook_url: string }
}

/** The rules of all groups. */
export function readRules(): Rule[] {
  return (parse(readFileSync(rulesFile, 'utf8')).groups as { rules: Rule[] }[]).flatMap((group) => group.rules)
}
