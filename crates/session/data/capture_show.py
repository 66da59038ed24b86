"""Asks a private MariaDB 10.11 for the columns of SHOW statements: capture_show.py SOCKET > show.tsv

The server needs databases d1 and d2, a table d1.t1, a view d1.v1, d1.pr1, d1.fu1, d1.tr1 and d1.ev1, and a
named and an unnamed CHANGE MASTER. Columns of the statements that set things up are to be deleted.
"""
import re,subprocess,sys
Q=[("databases","show databases"),("tables","show tables from d1"),("full_tables","show full tables from d1"),("table_status","show table status from d1"),("columns","show columns from d1.t1"),("full_columns","show full columns from d1.t1"),("index","show index from d1.t1"),("create_table","show create table d1.t1"),("create_view","show create view d1.v1"),("create_database","show create database d1"),("variables","show variables like 'version'"),("warnings","select 1/0; drop table if exists test.nono; show warnings"),("processlist","show processlist"),("engines","show engines"),("character_set","show character set"),("collation","show collation"),("privileges","show privileges"),("plugins","show plugins"),("triggers","show triggers from d1"),("routine_status","show procedure status"),("events","show events from d2"),("binary_logs","show binary logs"),("master_status","show master status"),("binlog_events","show binlog events limit 1"),("slave_status","show slave status"),("all_slaves_status","show all slaves status"),("slave_hosts","show slave hosts"),("open_tables","show open tables from d2"),("engine_status","show engine innodb status"),("profiles","set profiling=1; select 1; show profiles"),("contributors","show contributors"),("authors","show authors"),("profile","set profiling=1; select 1; show profile"),("create_procedure","show create procedure d1.pr1"),("create_function","show create function d1.fu1"),("create_trigger","show create trigger d1.tr1"),("create_event","show create event d1.ev1"),("user_statistics","set global userstat=1; show user_statistics"),("client_statistics","show client_statistics"),("index_statistics","show index_statistics"),("table_statistics","show table_statistics")]
out=[]
for n,q in Q:
    t=subprocess.run(["mariadb","--no-defaults","--default-character-set=utf8mb3","-S",sys.argv[1],"-t","--column-type-info","-e",q],capture_output=True,text=True).stdout
    out.append("@show."+n)
    for b in re.split(r"(?=^Field +\d+: )",t,flags=re.M)[1:]:
        g=lambda k: (re.search(r"^"+k+r": +(.*)$",b,re.M) or [None,""])[1]
        name=re.search(r"`(.*)`",b)[1]; ty=g("Type"); ln=int(g("Length")); fl=g("Flags"); dec=g("Decimals")
        coll=g("Collation")
        if ty=="VAR_STRING": s="varchar(%d)"%(ln//3) if "binary" not in coll else "varbinary(%d)"%ln
        elif ty=="LONGLONG": s="bigint(%d)"%min(ln,21)+(" unsigned" if "UNSIGNED" in fl else "")
        elif ty=="LONG": s="int(%d)"%ln+(" unsigned" if "UNSIGNED" in fl else "")
        elif ty=="SHORT": s="smallint(%d)"%ln+(" unsigned" if "UNSIGNED" in fl else "")
        elif ty in("BLOB","LONG_BLOB","MEDIUM_BLOB"): s="longtext"
        elif ty=="DATETIME": s="datetime"+("(%s)"%dec if dec!="0" else "")
        elif ty=="NEWDECIMAL": s="decimal(%d,%s)"%(ln-2,dec)
        elif ty=="DOUBLE": s="double"
        elif ty=="FLOAT": s="float"
        else: s="?"+ty+str(ln)
        out.append("%s\t%s\t%s"%(name,s,"N" if "NOT_NULL" in fl else "Y"))
print("\n".join(out))
