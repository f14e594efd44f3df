// SQL databases: one row per delivery (contract 9).
import { connectorType } from '../connector-type.ts';
import { createLazyTarget } from '../target.ts';
import { parseSql, sqlAddress, sqlProperties } from './sql-properties.ts';
import { deliveryIdPath } from './sql-row.ts';

export const sql = connectorType({
  vendorName: null,
  propertiesKey: 'sqlProperties',
  properties: sqlProperties,
  secrets: ['password', 'clientKey'],
  parse: parseSql,
  check({ jdbcUrl, columns }, checks) {
    checks.endpoint('jdbcUrl', sqlAddress(jdbcUrl));
    for (const [i, { path }] of columns.entries()) {
      // A path is what is between the braces of a template.
      if (path !== deliveryIdPath) checks.template(`columns.${i}.path`, `{{${path}}}`);
    }
  },
  open: (properties, { egress }) =>
    createLazyTarget(async () => {
      const { createSqlTarget } = await import('./sql-sender.ts');
      return createSqlTarget(properties, egress);
    }),
});
