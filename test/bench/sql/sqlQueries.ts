/** The queries of the benchmark, over `orders` and `products`. */
export const sqlQueries = {
  group: 'select country, count(*) as n, sum(amount) as total from orders group by country',
  join: 'select p.category, sum(o.amount) as total from orders o join products p on o.product_id = p.id group by p.category',
  window:
    'select * from (select country, id, amount, row_number() over (partition by country order by amount desc) as place from orders) as ranked where place <= 3',
  distinct: 'select count(distinct product_id) as products, count(distinct note) as notes from orders',
  order: 'select * from orders order by amount desc limit 10',
  where: 'select country, count(*) as n, sum(amount) as total from orders where product_id < 500 group by country',
} as const;

export type SqlQueryName = keyof typeof sqlQueries;

/** The columns of `orders` that a query reads, for a way that copies rows. */
export const readColumns: Readonly<Record<SqlQueryName, readonly string[]>> = {
  group: ['country', 'amount'],
  join: ['product_id', 'amount'],
  window: ['country', 'id', 'amount'],
  distinct: ['product_id', 'note'],
  order: ['id', 'product_id', 'quantity', 'amount', 'note', 'at', 'country'],
  where: ['country', 'amount', 'product_id'],
};
