// API schema of filter expressions (interface 2.9), for the OpenAPI document: the reader of expressions checks them.
import Type, { type TSchema } from 'typebox';
import { expressionLimits } from '../query/filters/expression.ts';
import { predicateNames } from '../query/filters/predicates.ts';
import { named, namedObject, shownAs } from './named.ts';
import { oneOf } from './record-fields.ts';

const { depthMax, filtersMax, valuesMax } = expressionLimits;

export const shownPredicate = named('Predicate', oneOf(predicateNames));

const filter = namedObject('Filter', {
  operator: Type.Optional(Type.Literal('FILTER', { description: 'Always `FILTER`.' })),
  field: Type.String({
    description:
      'Field of the device, such as `name`, `tags.name`, or `uplinkMetrics.timestamp`, or `customFields`. The filter options list all fields.',
  }),
  predicate: Type.Unsafe<string>({
    ...shownAs(shownPredicate, Type.String()),
    description: 'Comparison. The filter options list the predicates that a field supports.',
  }),
  values: Type.Optional(
    Type.Array(Type.Union([Type.String(), Type.Number(), Type.Boolean()]), {
      maxItems: valuesMax,
      description:
        'Values to compare with. Dates are epoch milliseconds or ISO-8601. `IS_NULL` and `IS_NOT_NULL` take none, `BETWEEN` two.',
    }),
  ),
  stringValues: Type.Optional(
    Type.Array(Type.String(), {
      maxItems: valuesMax,
      description: 'Values as strings, instead of `values`. For custom fields.',
    }),
  ),
  customFieldName: Type.Optional(
    Type.String({ description: 'Name of the custom field. Required for field `customFields`.' }),
  ),
});

const filterList = namedObject('FilterList', {
  operator: Type.Unsafe<string>({
    ...oneOf(['AND', 'OR']),
    description: 'Whether all of the expressions must match, or any.',
  }),
  expressions: Type.Array(Type.Unsafe({ $ref: '#/components/schemas/FilterExpression' }), {
    minItems: 1,
    maxItems: filtersMax,
    description: `Filters or further lists, at most ${depthMax} lists deep.`,
  }),
});

const shown = named('FilterExpression', Type.Union([filter, filterList]));

/** An optional filter expression, described by what it selects. */
export function filterExpression(description: string): TSchema {
  return shownAs(shown, Type.Unknown({ description }));
}
