import pg from 'pg'
import type { Queryable } from './pool.ts'

/** Whoever is still connected to it is disconnected. Nothing happens when there is none of this name. */
export async function dropDatabase(db: Queryable, name: string): Promise<void> {
  await db.query(`drop database if exists ${pg.escapeIdentifier(name)} with (force)`)
}

/** Empty, whatever somebody added to the template that new databases are made from. */
export async function createDatabase(db: Queryable, name: string): Promise<void> {
  await db.query(`create database ${pg.escapeIdentifier(name)} template template0 encoding 'UTF8'`)
}
