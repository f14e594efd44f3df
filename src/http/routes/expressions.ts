// Route of the check of expressions (contract 38.1).
import { expressions } from '../../contract/expressions.ts';
import { ExpressionError, keysOf, parseExpression } from '../../expressions/parse.ts';
import { type Route, route } from '../edge/route.ts';

export function expressionRoutes(): Route[] {
  return [
    route(expressions.check, ({ body }) => {
      try {
        const expression = parseExpression(body.expression);
        const { type } = expression;
        return {
          valid: true,
          type: type === 'any' ? null : type,
          keys: keysOf(expression),
          error: null,
        };
      } catch (error) {
        if (!(error instanceof ExpressionError)) throw error;
        const { message, position } = error;
        return { valid: false, type: null, keys: [], error: { message, position } };
      }
    }),
  ];
}
