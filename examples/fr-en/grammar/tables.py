"""The words of the corpus, as tables: one entry a line, columns separated by '|'.

The English of an entry is the only English that the corpus gives it.
"""

# French | gender | plural ('-' none: a mass noun; '+' regular) | English | plural | classes
NOUN_TABLE = """
pain            | m | -        | bread           | -          | food buy cut good
fromage         | m | -        | cheese          | -          | food buy cut good
viande          | f | -        | meat            | -          | food buy cut cook good
poisson         | m | -        | fish            | -          | food buy cook good
riz             | m | -        | rice            | -          | food buy cook
soupe           | f | -        | soup            | -          | food make good hot
beurre          | m | -        | butter          | -          | food buy
confiture       | f | -        | jam             | -          | food buy make good
chocolat        | m | -        | chocolate       | -          | food buy good
poulet          | m | -        | chicken         | -          | food buy cook
jambon          | m | -        | ham             | -          | food buy cut
miel            | m | -        | honey           | -          | food buy
salade          | f | -        | salad           | -          | food make buy
glace           | f | -        | ice cream       | -          | food buy make
pomme           | f | +        | apple           | +          | food buy cut count small fruit
orange          | f | +        | orange          | +          | food buy count
banane          | f | +        | banana          | +          | food buy count
poire           | f | +        | pear            | +          | food buy cut count
tomate          | f | +        | tomato          | +          | food buy cut wash count
carotte         | f | +        | carrot          | +          | food buy cut wash count
cerise          | f | +        | cherry          | +          | food buy count
fraise          | f | +        | strawberry      | +          | food buy wash count
œuf             | m | +        | egg             | +          | food buy cook count
gâteau          | m | gâteaux  | cake            | +          | food make buy cut count good big gift
sandwich        | m | +        | sandwich        | +          | food make buy count good
crêpe           | f | +        | pancake         | +          | food make count good
croissant       | m | +        | croissant       | +          | food buy count good
biscuit         | m | +        | biscuit         | +          | food make buy count small
légumes         | m | !        | -               | vegetables | food buy cook wash cut
haricots        | m | !        | -               | beans      | food buy cook
pâtes           | f | !        | -               | pasta      | food buy cook
frites          | f | !        | -               | fries      | food buy
eau             | f | -        | water           | -          | drink hot
lait            | m | -        | milk            | -          | drink buy hot
café            | m | +        | coffee          | +          | drink make buy hot good both
thé             | m | +        | tea             | +          | drink make buy hot good both
vin             | m | -        | wine            | -          | drink buy adult good
bière           | f | +        | beer            | +          | drink buy adult good both
limonade        | f | -        | lemonade        | -          | drink make buy
jus d'orange    | m | -        | orange juice    | -          | drink make buy
livre           | m | +        | book            | +          | read write thing text buy gift choose finish start use good translate
journal         | m | journaux | newspaper       | +          | read thing buy
lettre          | f | +        | letter          | +          | read write text open finish long translate
roman           | m | +        | novel           | +          | read write text finish start good translate
magazine        | m | +        | magazine        | +          | read buy
texte           | m | +        | text            | +          | read write text correct translate understand long hard
histoire        | f | +        | story           | stories    | read write text tell listen understand long good
poème           | m | +        | poem            | +          | read write text learn long
message         | m | +        | message         | +          | read write text understand
carte postale   | f | cartes postales | postcard | +          | write buy small
phrase          | f | +        | sentence        | +          | read write correct translate understand long hard
exercice        | m | +        | exercise        | +          | start finish correct explain hard
leçon           | f | +        | lesson          | +          | learn start understand explain hard long
question        | f | +        | question        | +          | understand ask hard
règle           | f | +        | rule            | +          | explain understand learn hard
film            | m | +        | film            | +          | watch text choose long good
match           | m | +        | match           | matches    | watch long
série           | f | +        | series          | series     | watch long
photo           | f | +        | photo           | +          | look show small
image           | f | +        | picture         | +          | look show draw
étoiles         | f | !        | -               | stars      | look
chanson         | f | +        | song            | +          | listen sing write learn long
robe            | f | +        | dress           | dresses    | wear buy choose wash colour dirty dear gift
chemise         | f | +        | shirt           | +          | wear buy choose wash colour dirty dear gift
jupe            | f | +        | skirt           | +          | wear buy choose wash colour dirty dear
manteau         | m | manteaux | coat            | +          | wear buy choose colour dirty dear small-thing
chapeau         | m | chapeaux | hat             | +          | wear buy choose colour small-thing gift
pull            | m | +        | sweater         | +          | wear buy choose wash colour dirty gift
veste           | f | +        | jacket          | +          | wear buy choose colour dirty dear small-thing
cravate         | f | +        | tie             | +          | wear buy choose colour gift
écharpe         | f | +        | scarf           | scarves    | wear buy choose colour gift small-thing
chaussures      | f | !        | -               | shoes      | wear buy choose colour dirty dear small-thing
gants           | m | !        | -               | gloves     | wear buy colour small-thing
lunettes        | f | !        | -               | glasses    | wear buy small-thing
voiture         | f | +        | car             | +          | vehicle buy drive wash repair use colour dirty dear fast big own hire
vélo            | m | +        | bike            | +          | vehicle buy repair use colour fast own hire
moto            | f | +        | motorbike       | +          | vehicle buy repair drive colour fast big dear own
bateau          | m | bateaux  | boat            | +          | vehicle buy build repair big fast dear own
clé             | f | +        | key             | +          | small-thing thing small
téléphone       | m | +        | phone           | +          | small-thing buy use repair thing dear own
ordinateur      | m | +        | computer        | +          | buy use repair thing dear fast own
table           | f | +        | table           | +          | buy repair thing clean big own
chaise          | f | +        | chair           | +          | buy repair thing broken own
lampe           | f | +        | lamp            | +          | buy repair break thing broken own
montre          | f | +        | watch           | watches    | buy repair break gift small-thing dear broken own
stylo           | m | +        | pen             | +          | small-thing buy use thing colour
crayon          | m | +        | pencil          | +          | small-thing buy use thing colour
cahier          | m | +        | notebook        | +          | small-thing buy thing colour
dictionnaire    | m | +        | dictionary      | +          | small-thing buy use thing big
parapluie       | m | +        | umbrella        | +          | small-thing buy use thing colour own
sac             | m | +        | bag             | +          | small-thing buy carry gift thing heavy colour own
valise          | f | +        | suitcase        | +          | small-thing carry open close heavy big colour
boîte           | f | +        | box             | boxes      | carry open close heavy big empty fill
billet          | m | +        | ticket          | +          | small-thing buy dear
cadeau          | m | cadeaux  | present         | +          | buy open choose bring give
fleur           | f | +        | flower          | +          | buy look draw plant water gift colour beautiful
rose            | f | +        | rose            | +          | buy plant water gift beautiful rose
arbre           | m | +        | tree            | +          | plant water draw big
jouet           | m | +        | toy             | +          | buy break small-thing broken gift choose
ballon          | m | +        | ball            | +          | buy small-thing colour gift play
argent          | m | -        | money           | -          | money
bouteille       | f | +        | bottle          | +          | open break fill empty buy
verre           | m | +        | glass           | glasses    | break wash fill empty dirty
assiette        | f | +        | plate           | +          | break wash empty dirty
tasse           | f | +        | cup             | +          | break wash empty dirty
couteau         | m | couteaux | knife           | knives     | use wash dirty
chien           | m | +        | dog             | +          | animal walk wash feed draw play own black
chat            | m | +        | cat             | +          | animal feed draw play own black
oiseau          | m | oiseaux  | bird            | +          | animal feed draw beautiful
cheval          | m | chevaux  | horse           | +          | animal feed draw own black beautiful
lapin           | m | +        | rabbit          | +          | animal feed draw own black
vache           | f | +        | cow             | +          | animal feed draw black
maison          | f | +        | house           | +          | building clean build draw buy big own hire
appartement     | m | +        | apartment       | +          | building clean buy hire big own
chambre         | f | +        | bedroom         | +          | room clean tidy big
cuisine         | f | +        | kitchen         | +          | room clean tidy big
salon           | m | +        | living room     | +          | room clean tidy big
garage          | m | +        | garage          | +          | room clean build
bureau          | m | bureaux  | office          | +          | room clean big
jardin          | m | +        | garden          | +          | water big beautiful own
porte           | f | +        | door            | +          | open close break repair
fenêtre         | f | +        | window          | +          | open close break clean repair
magasin         | m | +        | shop            | +          | open close building
musée           | m | +        | museum          | +          | visit building
château         | m | châteaux | castle          | +          | visit building big beautiful
église          | f | +        | church          | churches   | visit building beautiful
ville           | f | +        | city            | cities     | visit big beautiful
village         | m | +        | village         | +          | visit beautiful
pont            | m | +        | bridge          | +          | build cross building
rue             | f | +        | street          | +          | cross
rivière         | f | +        | river           | +          | cross
route           | f | +        | road            | +          | cross
mur             | m | +        | wall            | +          | build
"""

# French masculine | feminine (- regular) | English | before the noun | noun classes that it suits
ADJECTIVE_TABLE = """
rouge       | -          | red         | n | colour rose fruit
bleu        | -          | blue        | n | colour
vert        | -          | green       | n | colour fruit
jaune       | -          | yellow      | n | colour rose
noir        | noire      | black       | n | colour black
blanc       | blanche    | white       | n | colour black rose
grand       | -          | big         | y | big animal building room
petit       | -          | small       | y | big animal building room small thing
beau        | belle      | beautiful   | y | beautiful colour building
nouveau     | nouvelle   | new         | y | own wear read room
vieux       | vieille    | old         | y | own wear building room
bon         | bonne      | good        | y | good
cher        | chère      | expensive   | n | dear
lourd       | -          | heavy       | n | heavy
long        | longue     | long        | y | long
difficile   | -          | difficult   | n | hard
facile      | -          | easy        | n | hard
intéressant | -          | interesting | n | text
propre      | -          | clean       | n | dirty room
sale        | -          | dirty       | n | dirty room
chaud       | -          | hot         | n | hot
froid       | -          | cold        | n | hot
délicieux   | délicieuse | delicious   | n | food
vide        | -          | empty       | n | empty
cassé       | -          | broken      | n | broken
moderne     | -          | modern      | n | building
rapide      | -          | fast        | n | fast
"""

# Adjectives of people, used with être: masculine | feminine (- regular) | English | comparative (-)
PERSON_ADJECTIVE_TABLE = """
fatigué      | -          | tired       | -
content      | -          | happy       | happier
triste       | -          | sad         | sadder
malade       | -          | ill         | -
grand        | -          | tall        | taller
petit        | -          | small       | smaller
jeune        | -          | young       | younger
gentil       | gentille   | kind        | kinder
intelligent  | -          | intelligent | more intelligent
riche        | -          | rich        | richer
pauvre       | -          | poor        | poorer
occupé       | -          | busy        | busier
prêt         | -          | ready       | -
seul         | -          | alone       | -
célèbre      | -          | famous      | more famous
fort         | -          | strong      | stronger
paresseux    | paresseuse | lazy        | lazier
inquiet      | inquiète   | worried     | more worried
fier         | fière      | proud       | prouder
nerveux      | nerveuse   | nervous     | more nervous
patient      | -          | patient     | more patient
poli         | -          | polite      | more polite
surpris      | -          | surprised   | -
calme        | -          | calm        | calmer
sérieux      | sérieuse   | serious     | more serious
"""

# Infinitive (':à' its preposition; '#x' tells two meanings apart) | English forms | flags
# | object classes | fixed objects French=English, ';' between them | places
# Flags: n no bare present; l fits long spans ("last year"); d daily; c every tense; s state verb;
# a not done by children
VERB_TABLE = """
manger       | eat ate eaten eating              | dc  | food       |                         | meal
boire        | drink drank drunk drinking        | dc  | drink      |                         | meal
préparer     | prepare prepared prepared preparing | dc | make      | le dîner=dinner; le déjeuner=lunch; le petit déjeuner=breakfast; le repas=the meal | kitchen
cuisiner     | cook cooked cooked cooking        | d   | cook       |                         | kitchen
couper       | cut cut cut cutting               |     | cut        |                         | kitchen
commander    | order ordered ordered ordering    |     | food drink |                         | eatery
acheter      | buy bought bought buying          | lc  | buy buy food |                       | shop
vendre       | sell sold sold selling            | lca | buy buy food |                       | shop
chercher     | look looked looked looking for    | c   | small-thing small-thing money |      | home
trouver      | find found found finding          | nl  | small-thing money |                  | home
perdre       | lose lost lost losing             | nl  | small-thing money |                  | out
oublier      | forget forgot forgotten forgetting | n  | small-thing |                        | out
regarder     | watch watched watched watching    | dc  | watch animal | la télévision=television; la télévision=television; la télévision=television | indoor
regarder#at  | look looked looked looking at     |     | look       | le ciel=the sky; la mer=the sea; la lune=the moon |
écouter      | listen listened listened listening to | dc | listen person | la radio=the radio; de la musique=music / de musique | home
lire         | read read read reading            | dc  | read       |                         | home quiet
écrire       | write wrote written writing       | dc  | write      |                         | home quiet
prendre      | take took taken taking            | c   |            | le bus=the bus; le train=the train; le métro=the metro; un taxi=a taxi / de taxi; des photos=photos / de photos; une photo=a photo / de photo |
attendre     | wait waited waited waiting for    | c   | person     | le bus=the bus; le train=the train; un taxi=a taxi / de taxi; une lettre=a letter / de lettre | street
appeler      | call called called calling        | c   | person     | un taxi=a taxi / de taxi; la police=the police; le médecin=the doctor |
aider        | help helped helped helping        | c   | person     |                         | home
inviter      | invite invited invited inviting   |     | person     |                         |
rencontrer   | meet met met meeting              | l   | person     |                         | street
remercier    | thank thanked thanked thanking    |     | person     |                         |
téléphoner:à | phone phoned phoned phoning       |     | person     |                         |
répondre:à   | answer answered answered answering |    | person     | la question=the question; la lettre=the letter; le téléphone=the phone |
penser:à     | think thought thought thinking about | c | person   | l'avenir=the future; les vacances=the holidays |
parler:avec  | talk talked talked talking to     | c   | person     |                         | street home
jouer:avec   | play played played playing with   | d   | play person |                         | garden
jouer:à      | play played played playing        | dc  |            | le football=football; le tennis=tennis; les cartes=cards; les échecs=chess; le basket=basketball | garden
jouer:de     | play played played playing        | dc  |            | le piano=the piano; la guitare=the guitar; le violon=the violin | home
visiter      | visit visited visited visiting    | l   | visit      | paris=paris; londres=london; rome=rome |
apprendre    | learn learned learned learning    | lc  | learn      | le français=french; l'anglais=english; l'espagnol=spanish; l'italien=italian; l'allemand=german | school
étudier      | study studied studied studying    | dl  |            | le français=french; l'anglais=english; l'espagnol=spanish; l'allemand=german; les mathématiques=mathematics; la médecine=medicine | quiet
enseigner    | teach taught taught teaching      | la  |            | le français=french; l'anglais=english; l'espagnol=spanish; les mathématiques=mathematics | school
porter       | wear wore worn wearing            | dc  | wear       |                         |
porter#carry | carry carried carried carrying    |     | carry      |                         | street
laver        | wash washed washed washing        | d   | wash       | la vaisselle=the dishes; le linge=the laundry |
nettoyer     | clean cleaned cleaned cleaning    | d   | clean      |                         |
ranger       | tidy tidied tidied tidying        |     | tidy       |                         |
ouvrir       | open opened opened opening        | c   | open       |                         |
fermer       | close closed closed closing       |     | close      |                         |
réparer      | repair repaired repaired repairing | l  | repair     |                         | garage
conduire     | drive drove driven driving        | a   | drive      | le bus=the bus; le train=the train |
dessiner     | draw drew drawn drawing           |     | draw       |                         | quiet garden
chanter      | sing sang sung singing            | d   | sing       |                         | garden
choisir      | choose chose chosen choosing      | c   | choose     |                         |
finir        | finish finished finished finishing | c  | finish     | {mes} devoirs={my} homework; {mon} travail={my} work |
commencer    | start started started starting    |     | start      | {mes} devoirs={my} homework; {mon} travail={my} work |
casser       | break broke broken breaking       | n   | break      |                         | kitchen
utiliser     | use used used using               | d   | use        |                         |
promener     | walk walked walked walking        | d   | walk       |                         | park
nourrir      | feed fed fed feeding              | d   | feed       |                         | garden
arroser      | water watered watered watering    | d   | water      |                         |
planter      | plant planted planted planting    | l   | plant      |                         | garden
construire   | build built built building        | la  | build      |                         | country
apporter     | bring brought brought bringing    |     | food drink gift bring |              |
remplir      | fill filled filled filling        |     | fill       |                         | kitchen
raconter     | tell told told telling            | d   | tell       |                         |
dire         | tell told told telling            |     |            | la vérité=the truth; la vérité=the truth |
poser        | ask asked asked asking            |     | ask        |                         | school
corriger     | correct corrected corrected correcting | | correct   |                         | school
expliquer    | explain explained explained explaining | | explain   |                         | school
traduire     | translate translated translated translating | | translate |                   | quiet
payer        | pay paid paid paying              | a   |            | l'addition=the bill; le loyer=the rent |
quitter      | leave left left leaving           |     |            | la maison=the house; le bureau=the office; paris=paris; la ville=the city; le pays=the country |
traverser    | cross crossed crossed crossing    |     | cross      |                         |
louer        | rent rented rented renting        | la  | hire       |                         | country
faire        | do did done doing                 | dc  |            | la vaisselle=the dishes; {mes} devoirs={my} homework; les courses=the shopping; le ménage=the housework |
faire#make   | make made made making             | d   | make       | le lit=the bed; du bruit=noise / de bruit | kitchen
"""

# Verbs without an object: infinitive | English | flags (r reflexive) | places
INTRANSITIVE_TABLE = """
travailler  | work worked worked working       | dlc | work quiet country
dormir      | sleep slept slept sleeping       | dc  | home
marcher     | walk walked walked walking       | dc  | road park
courir      | run ran run running              | dc  | road park
nager       | swim swam swum swimming          | dc  | water
danser      | dance danced danced dancing      | dc  | garden home
chanter     | sing sang sung singing           | dc  | garden home
pleurer     | cry cried cried crying           | c   | home
rire        | laugh laughed laughed laughing   |     | home
sourire     | smile smiled smiled smiling      |     |
voyager     | travel travelled travelled travelling | l | country
attendre    | wait waited waited waiting       | c   | street home
jouer       | play played played playing       | dc  | garden park
étudier     | study studied studied studying   | dlc | quiet school
manger      | eat ate eaten eating             | dc  | meal eatery
lire        | read read read reading           | dc  | quiet home
cuisiner    | cook cooked cooked cooking       | dc  | kitchen
déjeuner    | have had had having lunch        | dc  | meal eatery
dîner       | have had had having dinner       | dc  | meal eatery
crier       | shout shouted shouted shouting   |     | street
reposer     | rest rested rested resting       | rdc | home
lever       | get got got getting up           | rdc |
réveiller   | wake woke woken waking up        | rd  |
coucher     | go went gone going to bed        | rdc |
habiller    | get got got getting dressed      | rd  | home
promener    | go went gone going for a walk    | rdc | park
amuser      | have had had having fun          | r   | garden park
dépêcher    | hurry hurried hurried hurrying   | r   |
"""

# Movement: infinitive | English | flags | reads place as: to, at
MOTION_TABLE = """
aller      | go went gone going                 | dc | to
venir      | come came come coming              | c  | to
retourner  | return returned returned returning | c  | to
arriver    | arrive arrived arrived arriving    | c  | at
rester     | stay stayed stayed staying         | c  | at
partir     | leave left left leaving            | c  | none
sortir     | go went gone going out             | dc | none
rentrer    | go went gone going home            | dc | none
"""

# French | English at | English to ('-' never a goal) | kinds
PLACE_TABLE = """
à la maison         | at home             | -                 | home indoor meal stay
au restaurant       | at the restaurant   | to the restaurant | eatery goal stay
au café             | at the café         | to the café       | eatery goal
à l'école           | at school           | to school         | school goal stay
à la bibliothèque   | at the library      | to the library    | quiet goal
au bureau           | at the office       | to the office     | work goal stay
au marché           | at the market       | to the market     | shop goal
à la plage          | at the beach        | to the beach      | goal stay
sur la plage        | on the beach        | -                 | park
à la gare           | at the station      | to the station    | goal street
à l'hôpital         | at the hospital     | to the hospital   | goal work
à l'hôtel           | at the hotel        | to the hotel      | goal stay
au cinéma           | at the cinema       | to the cinema     | goal
au musée            | at the museum       | to the museum     | goal
au théâtre          | at the theatre      | to the theatre    | goal
à l'aéroport        | at the airport      | to the airport    | goal
à la piscine        | at the swimming pool | to the swimming pool | goal water
à la boulangerie    | at the bakery       | to the bakery     | goal
au parc             | at the park         | to the park       | goal
dans le parc        | in the park         | -                 | park
dans le jardin      | in the garden       | -                 | garden home meal
dans la cuisine     | in the kitchen      | -                 | kitchen meal
dans le salon       | in the living room  | -                 | home indoor
dans la chambre     | in the bedroom      | -                 | home indoor quiet
dans la rue         | in the street       | -                 | street road out
dans le garage      | in the garage       | -                 | garage
dans le train       | on the train        | -                 | out
dans le bus         | on the bus          | -                 | out
dans la mer         | in the sea          | -                 | water
dans la forêt       | in the forest       | -                 | park
en ville            | in town             | to town           | goal shop
en france           | in france           | to france         | goal country
en italie           | in italy            | to italy          | goal country
en espagne          | in spain            | to spain          | goal country
en allemagne        | in germany          | to germany        | goal country
en angleterre       | in england          | to england        | goal country
au canada           | in canada           | to canada         | goal country
au japon            | in japan            | to japan          | goal country
à paris             | in paris            | to paris          | goal country city
à londres           | in london           | to london         | goal country city
à rome              | in rome             | to rome           | goal country city
à berlin            | in berlin           | to berlin         | goal country city
à lyon              | in lyon             | to lyon           | goal country city
à la campagne       | in the countryside  | to the countryside | goal stay
à la montagne       | in the mountains    | to the mountains  | goal stay
"""

# Subjects that are not pronouns: French | English | gender and number | tags (o may own: his, her)
SUBJECT_TABLE = """
paul             | paul            | m  | o
pierre           | pierre          | m  | o
marie            | marie           | f  | o
sophie           | sophie          | f  | o
mon père         | my father       | m  | o
ma mère          | my mother       | f  | o
mon frère        | my brother      | m  | o
ma sœur          | my sister       | f  | o
ton frère        | your brother    | m  | o
ta sœur          | your sister     | f  | o
votre père       | your father     | m  | o
notre voisin     | our neighbour   | m  | o
le professeur    | the teacher     | m  | o
le médecin       | the doctor      | m  | o
le garçon        | the boy         | m  | o child
la fille         | the girl        | f  | o child
l'homme          | the man         | m  | o
la femme         | the woman       | f  | o
l'étudiant       | the student     | m  | o
mon ami          | my friend       | m  | o
la voisine       | the neighbour   | f  | o
les enfants      | the children    | mp | child
les filles       | the girls       | fp | child
les garçons      | the boys        | mp | child
les étudiants    | the students    | mp |
les professeurs  | the teachers    | mp |
mes parents      | my parents      | mp |
mes amis         | my friends      | mp |
nos voisins      | our neighbours  | mp |
paul et marie    | paul and marie  | mp |
"""

# People as objects; {ma} {my} take the subject's person.
PEOPLE_TABLE = """
le professeur   | the teacher
le médecin      | the doctor
marie           | marie
sophie          | sophie
paul            | paul
pierre          | pierre
les enfants     | the children
les étudiants   | the students
la voisine      | the neighbour
{mon} père      | {my} father
{ma} mère       | {my} mother
{mon} frère     | {my} brother
{ma} sœur       | {my} sister
{mon} ami       | {my} friend
{mes} amis      | {my} friends
{mes} parents   | {my} parents
{mes} voisins   | {my} neighbours
"""

# Times: French | English | tenses (p present, f future, c completed, i ongoing past, h habit)
# | l long span, d daily, w weekly, - any
TIME_TABLE = """
maintenant            | now                    | p   | -
en ce moment          | at the moment          | p   | -
aujourd'hui           | today                  | pfc | -
ce matin              | this morning           | pci | -
cet après-midi        | this afternoon         | pfc | -
ce soir               | this evening           | pf  | -
hier                  | yesterday              | ci  | -
hier matin            | yesterday morning      | ci  | -
hier soir             | last night             | ci  | -
lundi dernier         | last monday            | c   | -
samedi dernier        | last saturday          | c   | -
il y a deux jours     | two days ago           | c   | -
il y a une heure      | an hour ago            | c   | -
la semaine dernière   | last week              | c   | l
le mois dernier       | last month             | c   | l
l'année dernière      | last year              | c   | l
demain                | tomorrow               | f   | -
demain matin          | tomorrow morning       | f   | -
demain soir           | tomorrow evening       | f   | -
lundi prochain        | next monday            | f   | -
samedi prochain       | next saturday          | f   | -
bientôt               | soon                   | f   | -
dans une heure        | in an hour             | f   | -
la semaine prochaine  | next week              | f   | l
le mois prochain      | next month             | f   | l
l'année prochaine     | next year              | f   | l
tous les jours        | every day              | h   | d
chaque matin          | every morning          | h   | d
chaque soir           | every evening          | h   | d
le dimanche           | on sundays             | h   | d
le samedi             | on saturdays           | h   | d
toutes les semaines   | every week             | h   | w
avant le dîner        | before dinner          | cf  | -
après le déjeuner     | after lunch            | cf  | -
à midi                | at noon                | cf  | -
"""

# Frequency adverbs, after the French verb: French | English
FREQUENCY_TABLE = """
souvent   | often
toujours  | always
parfois   | sometimes
rarement  | rarely
"""

# avoir + noun = to be + adjective
AVOIR_STATE_TABLE = """
faim      | hungry
soif      | thirsty
froid     | cold
chaud     | hot
peur      | afraid
sommeil   | sleepy
raison    | right
tort      | wrong
"""

# Professions (no article after être): masculine | feminine | English
PROFESSION_TABLE = """
médecin     | médecin      | doctor
professeur  | professeur   | teacher
étudiant    | étudiante    | student
avocat      | avocate      | lawyer
infirmier   | infirmière   | nurse
acteur      | actrice      | actor / actress
boulanger   | boulangère   | baker
journaliste | journaliste  | journalist
ingénieur   | ingénieure   | engineer
"""

# Weather, always with il: present | imperfect | futur simple | proche | passé composé
# = English present | past | will | going to | past   ('-' none)
WEATHER_TABLE = """
il pleut           | il pleuvait           | il pleuvra           | il va pleuvoir            | il a plu            | it is raining          | it was raining          | it will rain               | it is going to rain              | it rained
il neige           | il neigeait           | il neigera           | il va neiger              | il a neigé          | it is snowing          | it was snowing          | it will snow               | it is going to snow              | it snowed
il fait beau       | il faisait beau       | il fera beau         | il va faire beau          | il a fait beau      | the weather is nice    | the weather was nice    | the weather will be nice   | the weather is going to be nice  | -
il fait mauvais    | il faisait mauvais    | il fera mauvais      | il va faire mauvais       | il a fait mauvais   | the weather is bad     | the weather was bad     | the weather will be bad    | the weather is going to be bad   | -
il fait froid      | il faisait froid      | il fera froid        | il va faire froid         | il a fait froid     | it is cold             | it was cold             | it will be cold            | it is going to be cold           | -
il fait chaud      | il faisait chaud      | il fera chaud        | il va faire chaud         | il a fait chaud     | it is hot              | it was hot              | it will be hot             | it is going to be hot            | -
il fait très froid | il faisait très froid | il fera très froid   | il va faire très froid    | il a fait très froid | it is very cold       | it was very cold        | it will be very cold       | it is going to be very cold      | -
il fait très chaud | il faisait très chaud | il fera très chaud   | il va faire très chaud    | il a fait très chaud | it is very hot        | it was very hot         | it will be very hot        | it is going to be very hot       | -
il y a du vent     | il y avait du vent    | il y aura du vent    | il va y avoir du vent     | il y a eu du vent   | it is windy            | it was windy            | it will be windy           | it is going to be windy          | -
il y a du soleil   | il y avait du soleil  | il y aura du soleil  | il va y avoir du soleil   | il y a eu du soleil | it is sunny            | it was sunny            | it will be sunny           | it is going to be sunny          | -
"""

NUMBERS = (
    ("deux", "two"),
    ("trois", "three"),
    ("quatre", "four"),
    ("cinq", "five"),
    ("six", "six"),
    ("dix", "ten"),
)
