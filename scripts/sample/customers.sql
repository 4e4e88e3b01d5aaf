-- Click "Lance: Choose Connection" in the status bar and choose "sample".
-- Then press Ctrl+Enter (macOS: Cmd+Enter) in a statement.

-- Which countries order most?
select country, count(*) as orders, round(sum(amount), 2) as total
from "shop/eu".orders
group by country
order by total desc;

-- The product of the most orders in each country
select country, name, orders
from (
  select o.country, p.name, count(*) as orders
  from "shop/eu".orders o
  join shop.products p on p.id = o.product_id
  group by o.country, p.name
)
qualify row_number() over (partition by country order by orders desc) = 1
order by country;
