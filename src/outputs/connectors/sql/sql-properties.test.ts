// JDBC URLs: what is read from each form, and what is rejected.
import { expect, test } from 'vitest';
import { sqlAddress } from './sql.ts';

for (const [text, expected] of [
  [
    'jdbc:postgresql://db.example.com/samples',
    { dialect: 'postgresql', host: 'db.example.com', port: 5432, database: 'samples' },
  ],
  [
    'jdbc:mysql://db.example.com:3307/samples',
    { dialect: 'mysql', host: 'db.example.com', port: 3307, database: 'samples' },
  ],
  ['jdbc:mariadb://db.example.com/', undefined],
  ['jdbc:mariadb://db.example.com/a/b', undefined],
  ['postgresql://db.example.com/samples', undefined],
] as const) {
  test(`${text} is ${expected === undefined ? 'rejected' : 'read'}`, () =>
    expect(sqlAddress(text)).toEqual(expected));
}
