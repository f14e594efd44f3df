// Schemas and endpoint of the check of expressions (contract 38.1).
import Type from 'typebox';
import { endpoint } from './endpoint.ts';
import { namedObject, oneOf } from './schema-parts.ts';

/** Longer ones are refused with the place, as other invalid ones. */
const bodyTextMax = 20_000;

export const expressionText = Type.String({
  minLength: 1,
  maxLength: bodyTextMax,
  description:
    'Formula over data keys, such as `temperature * 9 / 5 + 32`, computed for each sample of the topic. Replaces `dataKey` in queries. At most 2,000 characters, 200 parts, and 30 levels.',
});

const expressionCheck = namedObject('ExpressionCheck', {
  valid: Type.Boolean({ description: 'Whether the expression can be computed.' }),
  type: Type.Union([oneOf(['number', 'boolean', 'string']), Type.Null()], {
    description: 'Type of the result. Null if it depends on the data.',
  }),
  keys: Type.Array(Type.String(), { description: 'Data keys that the expression reads.' }),
  error: Type.Union(
    [
      Type.Object({
        message: Type.String({ description: 'What is wrong.' }),
        position: Type.Integer({ description: 'Number of characters before the error.' }),
      }),
      Type.Null(),
    ],
    { description: 'First error. Null if the expression is valid.' },
  ),
});

export const expressions = {
  check: endpoint({
    method: 'POST',
    path: '/v3/expressions/check',
    ownBody: true,
    summary: 'Check an expression',
    description:
      'Returns the type of an expression and the data keys that it reads, or the first error. `type` is null where the data decides.',
    tag: 'Data',
    access: { anyCredential: 'Any valid credential.' },
    body: namedObject('ExpressionCheckBody', { expression: expressionText }),
    response: expressionCheck,
  }),
} as const;
